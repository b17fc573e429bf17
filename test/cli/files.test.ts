import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ListMultipartUploadsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { bearer, download, upload } from '../files/forms.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { S3_ENV, startS3, withoutS3 } from '../support/s3.ts';
import { signIn, signUp, startServer } from '../support/server.ts';
import { run, start } from './run.ts';

const COUNT = 12;

describe.skipIf(withoutS3)('uploads between a folder and a bucket (needs versitygw)', async () => {
  if (withoutS3) return;
  const s3 = await startS3();
  const { name: Bucket, url } = await s3.bucket();
  const database = await createDatabase();
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-move-'));
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir };
  const startHere = (more: Record<string, string> = {}) =>
    startServer({ database, dataDir, env: { PYTHON: '/dev/null', ...more } });
  let server = await startHere();
  const ann = await signUp(server, 'Ann');
  const contents = new Map<string, string>();
  for (let i = 0; i < COUNT; i += 1) {
    const content = i === 0 ? '' : `${i} `.repeat(i * 20_000);
    contents.set((await upload(server, ann, content)).body.id, content);
  }
  const [, small = '', other = ''] = contents.keys();
  const large = [...contents.keys()].at(-1) ?? '';
  afterAll(async () => {
    await server.close();
    await database.drop();
    await s3.stop();
    await rm(dataDir, { recursive: true, force: true });
  });
  const Prefix = 'some/prefix/uploads/';
  const listIds = async () => {
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket, Prefix }));
    return Contents.map(({ Key = '' }) => Key.slice(Prefix.length)).toSorted();
  };
  const listUnfinished = async (bucket = Bucket) =>
    (await s3.client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? [];
  async function expectAll(): Promise<void> {
    for (const [id, content] of contents)
      expect((await download(server, id, bearer(ann))).bytes.toString()).toBe(content);
  }
  const move = (...words: string[]) => run(['files', 'move', ...words], env);

  it('are moved in the middle of a kill by the next run, while the server serves', async () => {
    // The bytes of one file come through a pipe, which stops in the middle.
    const path = join(dataDir, 'uploads', large);
    await rename(path, join(dataDir, 'aside'));
    spawnSync('mkfifo', [path]);
    const killed = start(['files', 'move', '--to', url], { ...env, ...S3_ENV });
    const pipe = await open(path, 'w');
    await pipe.write(Buffer.alloc(6 * 1024 * 1024));
    await until('half a file', async () => (await listUnfinished()).length > 0);
    await until('the other files', async () => (await listIds()).length === COUNT - 1);
    killed.kill('SIGKILL');
    await once(killed, 'close');
    await pipe.close();
    await rename(join(dataDir, 'aside'), path);
    expect(await listIds()).not.toContain(large);

    const { code, stdout, stderr } = await move('--to', url);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${COUNT} files are in s3://${Bucket}/some/prefix/ at ${s3.endpoint}`);
    expect(stdout).toContain(`1 copied now, ${COUNT - 1} before`);
    expect(stdout).toContain('A server runs and may store more files.');
    expect(await listIds()).toEqual([...contents.keys()].toSorted());
    await expectAll();
  });

  it('serve from the new place after a last run without a server', async () => {
    contents.set((await upload(server, ann, 'meanwhile')).body.id, 'meanwhile');
    await server.close();
    const { code, stdout } = await move('--to', url);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`1 copied now, ${COUNT} before`)]);
    expect(stdout).toContain('Now set FILES_URL to this bucket, and start the servers.');
    server = await startHere({ FILES_URL: url });
    await rm(join(dataDir, 'uploads'), { recursive: true });
    await expectAll();
  });

  it('return to the folder, and are compared with their hashes when asked', async () => {
    const Body = 'x'.repeat(contents.get(small)?.length ?? 0);
    const back = ['--from', url, '--to', 'folder'];
    expect((await move(...back)).code).toBe(0);
    await writeFile(join(dataDir, 'uploads', small), Body);
    expect((await move(...back)).stdout).toContain('0 copied now');
    expect((await move(...back, '--verify')).stdout).toContain('1 copied now');
    expect(await readFile(join(dataDir, 'uploads', small), 'utf8')).toBe(contents.get(small));
    expect((await readdir(join(dataDir, 'uploads'))).toSorted()).toEqual([...contents.keys()].toSorted());
  });

  it('that are damaged or missing are named, and never appear in the new place', async () => {
    const second = (await s3.bucket()).url;
    await writeFile(join(dataDir, 'uploads', small), 'too short');
    await rm(join(dataDir, 'uploads', other));
    const { code, stdout, stderr } = await move('--from', 'folder', '--to', second);
    expect([code, stdout]).toEqual([1, expect.stringContaining(`${COUNT - 1} copied now`)]);
    expect(stderr).toContain(`The bytes of the file ${small} are damaged in ${join(dataDir, 'uploads')}.`);
    expect(stderr).toContain(`The bytes of the file ${other} are missing in ${join(dataDir, 'uploads')}.`);
    const again = await move('--from', url, '--to', second);
    expect([again.code, again.stdout]).toEqual([0, expect.stringContaining('2 copied now')]);
  });

  it('are not moved to a place of another installation, a wrong place or the same place', async () => {
    const taken = await s3.bucket();
    const Key = 'some/prefix/parley-installation';
    await s3.client.send(new PutObjectCommand({ Bucket: taken.name, Key, Body: 'another' }));
    const refusals: [string[], RegExp][] = [
      [['--to', taken.url], /belong to another installation/],
      [['--to', 'folder'], /are in .*uploads already/],
      [['--to', 'ftp://x'], /must be an address such as s3:\/\/bucket\/prefix, or folder/],
      [['--to', url.replace(Bucket, 'no-such')], /there is no such bucket/],
    ];
    for (const [words, reason] of refusals) {
      const { code, stderr } = await move(...words);
      expect([code, stderr]).toEqual([1, expect.stringMatching(reason)]);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    }
  });

  it('interrupted by an outage continue in the next run', async () => {
    const { name, url: third } = await s3.bucket();
    await s3.kill();
    const { code, stderr } = await move('--to', third);
    expect([code, stderr]).toEqual([1, expect.stringContaining('run this command again: it continues')]);
    await s3.restart();
    expect((await move('--from', url, '--to', third)).code).toBe(0);
    expect(await listUnfinished(name)).toEqual([]);
  });

  it('are in backups of a server with a bucket, and a restore puts them into a bucket or a folder', async () => {
    const archive = join(dataDir, 'all.tar.gz');
    const here = { ...env, FILES_URL: url };
    expect(await run(['backup', archive], here)).toMatchObject({ code: 0, stderr: '' });
    const target = await createDatabase({ empty: true });
    const fresh = await mkdtemp(join(dataDir, 'restored-'));
    const there = { DATABASE_URL: target.url, DATA_DIR: fresh };
    const { url: bucket } = await s3.bucket();
    expect((await run(['restore', archive], { ...there, FILES_URL: bucket })).code).toBe(0);
    let restored = await startServer({
      database: target,
      dataDir: fresh,
      env: { FILES_URL: bucket, PYTHON: '/dev/null' },
    });
    const read = async () =>
      (await download(restored, large, bearer(await signIn(restored, ann)))).bytes.toString();
    expect(await read()).toBe(contents.get(large));
    await restored.close();

    // A trial must not take over the bucket of the original, whose newer files it would remove.
    const refused = await run(['restore', archive, '--replace'], {
      ...there,
      FILES_URL: url.replace(Bucket, 'no-such'),
    });
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('there is no such bucket') });
    await target.query('truncate users cascade');
    const trial = await run(['restore', archive], { ...there, FILES_URL: url });
    expect(trial).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('holds the files of an installation'),
    });
    expect((await run(['restore', archive, '--replace'], there)).code).toBe(0);
    await expect(
      startServer({ database: target, dataDir: fresh, env: { FILES_URL: url, PYTHON: '/dev/null' } }),
    ).rejects.toThrow(/belong to another installation/);
    restored = await startServer({ database: target, dataDir: fresh, env: { PYTHON: '/dev/null' } });
    expect(await read()).toBe(contents.get(large));
    await restored.close();
    await target.drop();
  });

  it('may be left out of a backup, whose restore leaves them alone', async () => {
    const archive = join(dataDir, 'rows.tar.gz');
    expect(await run(['backup', archive, '--without-files'], env)).toMatchObject({ code: 0 });
    await server.close();
    const before = await readdir(join(dataDir, 'uploads'));
    const restored = await run(['restore', archive, '--replace'], env);
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining('and no files of') });
    expect(await readdir(join(dataDir, 'uploads'))).toEqual(before);
  });
});
