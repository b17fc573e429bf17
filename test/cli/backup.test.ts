import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type Person, signIn, signUp, startServer, type TestServer } from '../support/server.ts';
import { run, start } from './run.ts';

let folder: string;
let archive: string;
let database: TestDatabase;
let server: TestServer;
let root: Person;
let channelId: string;
let fileId: string;

/** The rows of all tables as text, except the list of migrations. */
async function contentsOf(of: TestDatabase): Promise<Record<string, string[]>> {
  const tables = await of.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = current_schema() and tablename <> 'mikro_orm_migrations'`,
  );
  const contents: Record<string, string[]> = {};
  for (const { name } of tables) {
    const rows = await of.query<{ row: string }>(`select t::text as row from "${name}" t order by 1`);
    contents[name] = rows.map(({ row }) => row);
  }
  return contents;
}

const envOf = (of: TestDatabase, dataDir: string) => ({ DATABASE_URL: of.url, DATA_DIR: dataDir });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-backup-'));
  archive = join(folder, 'backup.tar.gz');
  database = await createDatabase();
  const dataDir = join(folder, 'data');
  server = await startServer({ database, dataDir, env: { LOG_LEVEL: 'silent', PYTHON: '/dev/null' } });
  root = await signUp(server, 'Root');
  const { token } = root;
  const { body: channel } = await server.call('POST /channels/create', { token, body: { name: 'general' } });
  channelId = channel.id;
  for (let i = 0; i < 60; i += 1) {
    await server.call(`POST /channels/${channelId}/messages/post`, {
      token,
      body: {
        content: `${i} "quotes" \\ \n é 🎉 ${'x'.repeat(1_000)}`,
        data: { big: 2 ** 53, nested: [null, { a: 0.1 }] },
      },
    });
  }
  const form = new FormData();
  form.set('file', new Blob(['the bytes of an upload'], { type: 'text/plain' }), 'notes.txt');
  const upload = await fetch(`${server.url}/api/v1/files/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  fileId = ((await upload.json()) as { id: string }).id;
  const { body: configuration } = await server.call('GET /configs/export', { token });
  configuration.hosted_model_api = {
    enable: true,
    api_base_urls: ['https://one.example.com'],
    api_keys: ['sk-sealed'],
    api_configs: {},
  };
  await server.call('POST /configs/import', { token, body: configuration });
  // The backup runs while the server writes.
  const [made] = await Promise.all([
    run(['backup', archive], envOf(database, dataDir)),
    server.call(`POST /channels/${channelId}/messages/post`, { token, body: { content: 'meanwhile' } }),
  ]);
  expect(made).toMatchObject({ code: 0, stderr: '' });
});
afterAll(async () => {
  await server.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

describe('a backup', () => {
  it('is readable only for its owner, and any tar can open it', async () => {
    expect((await stat(archive)).mode & 0o777).toBe(0o600);
    const { stdout, status } = spawnSync('tar', ['tzf', archive], { encoding: 'utf8' });
    expect(status).toBe(0);
    const names = stdout.trim().split('\n');
    expect(names.slice(0, 2)).toEqual(['manifest.json', 'secret.key']);
    expect(names).toContain('database/message/1.json');
    expect(names).toContain('database/message/2.json');
    expect(names.at(-1)).toBe('summary.json');
    expect(names.filter((name) => name.startsWith('database/session'))).toEqual([]);
  });

  it('covers every table of the database except the sign-ins', async () => {
    const { stdout } = spawnSync('tar', ['xzOf', archive, 'manifest.json'], { encoding: 'utf8' });
    const { tables } = JSON.parse(stdout);
    const covered = tables.map(({ name }: { name: string }) => name);
    const all = Object.keys(await contentsOf(database)).filter((name) => name !== 'session');
    expect(covered.toSorted()).toEqual(all.toSorted());
  });

  it('overwrites no file, and leaves nothing behind when it fails', async () => {
    const env = envOf(database, join(folder, 'data'));
    const before = await readFile(archive);
    expect(await run(['backup', archive], env)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('exists'),
    });
    expect(await readFile(archive)).toEqual(before);
    const nowhere = await run(['backup', join(folder, 'nowhere', 'x.tar.gz')], env);
    expect(nowhere).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be written') });
  });
});

describe('a restore', () => {
  let target: TestDatabase;
  let dataDir: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    target = await createDatabase({ empty: true });
    dataDir = await mkdtemp(join(folder, 'target-'));
    env = envOf(target, dataDir);
  });
  afterEach(() => target.drop());

  it('restores the rows, files, secret and numbers of the moment of the backup', async () => {
    expect(await run(['restore', archive], env)).toMatchObject({ code: 0, stderr: '' });
    const original = await contentsOf(database);
    const restored = await contentsOf(target);
    expect(Object.keys(restored).toSorted()).toEqual(Object.keys(original).toSorted());
    const { session, message, channel, channel_event: events, channel_reader: readers, ...others } = restored;
    for (const [name, rows] of Object.entries(others)) {
      // These change during the backup: activity, and the rows of a post.
      if (['users', 'message_temp_id', 'delivery'].includes(name)) continue;
      if (name === 'config') continue;
      expect([name, rows]).toEqual([name, original[name]]);
    }
    const configOf = (of: TestDatabase) =>
      of.query<{ installation_id: string }>('select revision, data, origins, installation_id from config');
    const [[before], [after]] = [await configOf(database), await configOf(target)];
    // The restored data is another installation.
    expect(after).toEqual({ ...before, installation_id: expect.any(String) });
    expect(after?.installation_id).not.toBe(before?.installation_id);
    expect(session).toEqual([]);
    expect(original.message).toEqual(expect.arrayContaining(message ?? []));
    expect(message?.length).toBeGreaterThanOrEqual(60);
    const keys = (of: TestDatabase) =>
      of.query(`select conrelid::regclass::text as t, conname, convalidated, pg_get_constraintdef(oid) as d
                  from pg_constraint where connamespace = current_schema()::regnamespace order by 1, 2`);
    expect(await keys(target)).toEqual(await keys(database));
    expect(await readFile(join(dataDir, 'secret.key'), 'utf8')).toBe(
      await readFile(join(folder, 'data', 'secret.key'), 'utf8'),
    );
    expect((await stat(join(dataDir, 'secret.key'))).mode & 0o777).toBe(0o600);

    const again = await startServer({
      database: target,
      dataDir,
      env: { LOG_LEVEL: 'silent', PYTHON: '/dev/null' },
    });
    try {
      expect((await again.call('GET /auths', { token: root.token })).status).toBe(401);
      const { token } = await signIn(again, root);
      const { body: messages } = await again.call(`GET /channels/${channelId}/messages?limit=200`, { token });
      expect(messages.length).toBeGreaterThanOrEqual(60);
      const { body } = await again.call('GET /configs/export?secrets=true', { token });
      expect(body.hosted_model_api.api_keys).toEqual(['sk-sealed']);
      const file = await fetch(`${again.url}/api/v1/files/${fileId}/content`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect([file.status, await file.text()]).toEqual([200, 'the bytes of an upload']);
      // Sequences go on: a new account, and a new number in the log of the channel.
      expect((await signUp(again, 'Later')).id).toMatch(/-/);
      const post = { token, body: { content: 'after' } };
      expect((await again.call(`POST /channels/${channelId}/messages/post`, post)).status).toBe(200);
    } finally {
      await again.close();
    }
  });

  it('replaces accounts only with the option for it', async () => {
    const other = await startServer({
      database: target,
      dataDir,
      env: { LOG_LEVEL: 'silent', PYTHON: '/dev/null' },
    });
    await signUp(other, 'Occupant');
    await other.close();
    const before = await contentsOf(target);
    const refused = await run(['restore', archive], env);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--replace') });
    expect(await contentsOf(target)).toEqual(before);
    expect(await run(['restore', archive, '--replace'], env)).toMatchObject({ code: 0 });
    expect((await target.query('select email from users')).length).toBe(1);
    expect(await target.query(`select from users where email = 'root@example.com'`)).toHaveLength(1);
  });

  it('is refused while a server runs', async () => {
    const running = await startServer({
      database: target,
      dataDir,
      env: { LOG_LEVEL: 'silent', PYTHON: '/dev/null' },
    });
    const { code, stderr } = await run(['restore', archive, '--replace'], env);
    await running.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining('Another Parley process uses this database')]);
  });

  it('that is refused while a server runs leaves the files that the server makes meanwhile', async () => {
    const running = await startServer({
      database: target,
      dataDir,
      env: { LOG_LEVEL: 'silent', PYTHON: '/dev/null' },
    });
    const made = join(dataDir, 'made-meanwhile');
    const { searchParams } = new URL(target.url);
    const to = join(searchParams.get('host') ?? '', `.s.PGSQL.${searchParams.get('port')}`);
    const way = createServer((client) => {
      writeFileSync(made, 'of the server');
      const there = connect(to);
      for (const side of [client, there]) side.on('error', () => {});
      client.pipe(there).pipe(client);
    }).listen(0, '127.0.0.1');
    await once(way, 'listening');
    const url = new URL(target.url);
    url.search = '';
    url.host = `127.0.0.1:${(way.address() as AddressInfo).port}`;
    const { code, stderr } = await run(['restore', archive, '--replace'], { ...env, DATABASE_URL: url.href });
    await running.close();
    way.close();
    expect([code, stderr]).toEqual([1, expect.stringContaining('Another Parley process uses this database')]);
    expect(await readFile(made, 'utf8')).toBe('of the server');
  });

  it('of a damaged archive is refused in one line, and the database stays unchanged', async () => {
    expect((await run(['restore', archive], env)).code).toBe(0);
    const before = await contentsOf(target);
    const spoilt = join(dataDir, 'spoilt.tar.gz');
    const whole = await readFile(archive);
    const changed = Buffer.from(whole);
    const middle = Math.floor(whole.length / 2);
    changed.writeUInt8(changed.readUInt8(middle) ^ 0xff, middle);
    const damaged = {
      'cut off': whole.subarray(0, Math.floor(whole.length / 2)),
      empty: '',
      'not an archive': 'nonsense',
      changed,
    };
    for (const [what, bytes] of Object.entries(damaged)) {
      await writeFile(spoilt, bytes);
      const { code, stderr } = await run(['restore', spoilt, '--replace'], env);
      expect([what, code, stderr.trim().split('\n').length]).toEqual([what, 1, 1]);
      expect(await contentsOf(target), what).toEqual(before);
      expect(await readFile(join(dataDir, 'uploads', fileId), 'utf8').catch(() => '')).not.toBe('');
    }
  });

  it('of a bad archive into an empty folder and database leaves nothing behind', async () => {
    const fresh = join(folder, 'fresh');
    const bad = join(folder, 'bad.tar.gz');
    await writeFile(bad, (await readFile(archive)).subarray(0, 2000));
    const { code } = await run(['restore', bad], { DATA_DIR: fresh });
    expect(code).toBe(1);
    await expect(stat(fresh)).rejects.toThrow('ENOENT');
    expect((await run(['restore', bad], env)).code).toBe(1);
    expect(await target.query('select from pg_tables where schemaname = current_schema()')).toEqual([]);
  });

  it('that is killed in the middle leaves everything unchanged, and can run again', async () => {
    expect((await run(['restore', archive], env)).code).toBe(0);
    await target.query(`update users set name = 'Since then'`);
    const before = await contentsOf(target);
    // The archive comes through a pipe that stops before its last bytes, the checksum: all rows are inserted,
    // and the command waits for the end.
    const pipe = join(dataDir, 'pipe.tar.gz');
    spawnSync('mkfifo', [pipe]);
    const child = start(['restore', pipe, '--replace'], env);
    const ended = once(child, 'close');
    const writer = await open(pipe, 'w');
    await writer.write((await readFile(archive)).subarray(0, -8));
    await until('rows to be put in', async () => {
      const found = await target.query(
        `select from pg_stat_activity where datname = current_database() and state = 'idle in transaction' and query ~* 'insert into'`,
      );
      return found.length > 0;
    });
    child.kill('SIGKILL');
    await ended;
    await writer.close();
    expect(await contentsOf(target)).toEqual(before);
    expect(await readFile(join(dataDir, 'uploads', fileId), 'utf8')).toBe('the bytes of an upload');
    expect(await run(['restore', archive, '--replace'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(await target.query(`select name from users`)).toEqual([{ name: 'Root' }]);
  });

  it('refuses another secret than the one that sealed the rows', async () => {
    const { code, stderr } = await run(['restore', archive], { ...env, SECRET_KEY: 'o'.repeat(40) });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('SECRET_KEY does not list the secret of the archive'),
    ]);
  });

  it('refuses an archive of a newer version', async () => {
    const unpacked = await mkdtemp(join(folder, 'newer-'));
    spawnSync('tar', ['xzf', archive, '-C', unpacked]);
    const manifest = JSON.parse(await readFile(join(unpacked, 'manifest.json'), 'utf8'));
    manifest.migrations.push('Migration29990101000000_future');
    await writeFile(join(unpacked, 'manifest.json'), JSON.stringify(manifest));
    const newer = join(unpacked, 'newer.tar.gz');
    spawnSync('tar', [
      'czf',
      newer,
      '-C',
      unpacked,
      'manifest.json',
      'secret.key',
      'database',
      'summary.json',
    ]);
    const { code, stderr } = await run(['restore', newer], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Update this program first')]);
  });
});
