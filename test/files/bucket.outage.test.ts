import { once } from 'node:events';
import { readdir, utimes } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { spawnMain } from '../support/process.ts';
import { S3_ENV, startS3, withoutS3 } from '../support/s3.ts';
import { call, signUp, startServer, type TestServer } from '../support/server.ts';
import { bearer, download, upload } from './forms.ts';

const PART = 5 * 1024 * 1024;
const ORPHAN = '019ab000-0000-7000-8000-000000000001';
const YOUNG = '019ab000-0000-7000-8000-000000000002';

describe.skipIf(withoutS3)('a bucket (needs versitygw)', async () => {
  if (withoutS3) return;
  const s3 = await startS3();
  const { name: Bucket, url } = await s3.bucket();
  const keyOf = (id: string) => `some/prefix/uploads/${id}`;
  const database = await createDatabase();
  const SECRET_KEY = 'the secret of servers on one database';
  const log: string[] = [];
  const start = (env: Record<string, string> = {}) =>
    startServer({
      database,
      env: { FILES_URL: url, SECRET_KEY, PYTHON: '/dev/null', ...env },
      log: new Writable({ write: (line, _encoding, done) => done(void log.push(String(line))) }),
    });
  const first: TestServer = await start();
  let server = first;
  const ann = await signUp(server, 'Ann');
  const kept = (await upload(server, ann, 'kept')).body.id;
  afterAll(async () => {
    await server.close();
    await database.drop();
    await s3.stop();
  });
  const listKeys = async () => {
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket, Prefix: keyOf('') }));
    return Contents.map(({ Key }) => Key).toSorted();
  };
  const listUnfinished = async () =>
    (await s3.client.send(new ListMultipartUploadsCommand({ Bucket }))).Uploads ?? [];
  const stateOfFiles = async () => {
    const response = await fetch(`${server.url}/ready`);
    const { ready, parts } = (await response.json()) as { ready: boolean; parts: Record<string, unknown> };
    return { status: response.status, ready, files: parts.files };
  };

  it('that is away makes uploads and downloads answer 503, and nothing else', async () => {
    await s3.kill();
    for (const answer of [
      await upload(server, ann, 'x'),
      await upload(server, ann, Buffer.alloc(PART + 1)),
    ]) {
      expect([answer.status, answer.body.code]).toEqual([503, 'unavailable']);
      expect(answer.body.detail).toBe('The store of files does not answer. Try again in a moment.');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    for (const method of ['GET', 'HEAD'])
      expect((await download(server, kept, bearer(ann), method)).status).toBe(503);
    await until('the degraded state', async () => (await stateOfFiles()).files);
    await until('the outage in /ready', async () =>
      JSON.stringify(await stateOfFiles()).includes('degraded'),
    );
    expect(await stateOfFiles()).toEqual({
      status: 200,
      ready: true,
      files: { state: 'degraded', detail: 'does not answer' },
    });
    const { body } = await server.as(ann)('GET /files');
    expect(body.total).toBe(1);
    expect((await server.as(ann)('POST /channels/create', { name: 'general' })).status).toBe(200);

    const again = await start({ REDIS_URL: '' }).catch((error: Error) => error.message);
    expect(again).toMatch(/Another Parley process/);
    await s3.restart();
    await until('the end of the outage', async () =>
      JSON.stringify(await stateOfFiles()).includes('answers'),
    );
    expect((await download(server, kept, bearer(ann))).bytes.toString()).toBe('kept');
  });

  it('that is away does not stop a start, and takes uploads later', async () => {
    await server.close();
    await s3.kill();
    server = await start();
    expect((await stateOfFiles()).files).toEqual({ state: 'degraded', detail: 'does not answer' });
    await s3.restart();
    await until(
      'the bucket to answer',
      async () => (await download(server, kept, bearer(ann))).status === 200,
    );
    await until('uploads', async () => (await upload(server, ann, 'later')).status === 200);
  });

  it('takes no uploads while it belongs to another installation, which would remove them', async () => {
    const mark = { Bucket, Key: 'some/prefix/parley-installation' };
    const own = await s3.client.send(new GetObjectCommand(mark));
    const id = await own.Body?.transformToString();
    await s3.client.send(new PutObjectCommand({ ...mark, Body: 'another' }));
    await until('the other owner', async () => JSON.stringify(await stateOfFiles()).includes('degraded'));
    expect((await upload(server, ann, 'x')).status).toBe(503);
    expect((await download(server, kept, bearer(ann))).status).toBe(200);
    await s3.client.send(new PutObjectCommand({ ...mark, Body: id }));
    await until('uploads', async () => (await upload(server, ann, 'own')).status === 200);
  });

  it('that hangs holds back only calls for bytes', async () => {
    s3.hang();
    const downloads = Array.from({ length: 30 }, () => download(server, kept, bearer(ann)));
    const uploads = Array.from({ length: 3 }, () => upload(server, ann, 'slow'));
    for (let i = 0; i < 20; i += 1) expect((await server.as(ann)('GET /channels')).status).toBe(200);
    s3.resume();
    for (const { status } of await Promise.all(downloads)) expect(status).toBe(200);
    for (const { status } of await Promise.all(uploads)) expect(status).toBe(200);
  });

  it('gets no object from a caller who leaves in the middle', async () => {
    const before = await listKeys();
    const body = sendHalf(server.url, ann.token);
    await until('a multipart upload', async () => (await listUnfinished()).length > 0);
    body.destroy();
    await until('its end', async () => (await listUnfinished()).length === 0);
    expect(await listKeys()).toEqual(before);
  });

  it('is swept of what crashes leave, and of nothing else', async () => {
    await server.close();
    const killed = spawnMain({ DATABASE_URL: database.url, SECRET_KEY, FILES_URL: url, ...S3_ENV });
    const address = await killed.ready();
    const body = sendHalf(address, ann.token);
    await until('a multipart upload', async () => (await listUnfinished()).length > 0);
    await killed.stop('SIGKILL');
    body.destroy();
    expect(await listUnfinished()).toHaveLength(1);

    for (const id of [ORPHAN, YOUNG, 'not-ours'])
      await s3.client.send(new PutObjectCommand({ Bucket, Key: keyOf(id), Body: 'x' }));
    await s3.client.send(new PutObjectCommand({ Bucket, Key: `other/${ORPHAN}`, Body: 'x' }));
    await age(join(s3.folder, Bucket), (path) => !path.endsWith(YOUNG));
    server = await start();
    await until('the sweep', async () => {
      return !(await listKeys()).includes(keyOf(ORPHAN)) && (await listUnfinished()).length === 0;
    });
    expect(await listKeys()).toEqual(expect.arrayContaining([kept, YOUNG, 'not-ours'].map(keyOf)));
    const { Contents } = await s3.client.send(new ListObjectsV2Command({ Bucket, Prefix: 'other/' }));
    expect(Contents).toHaveLength(1);
    expect((await call(server.url, 'GET /files', { token: ann.token })).body.total).toBe(6);
  });

  it('writes no credentials and no keys into the log', () => {
    expect(log.join('')).not.toMatch(new RegExp(`${S3_ENV.AWS_SECRET_ACCESS_KEY}|X-Amz|Signature=`));
  });
});

/** Begins an upload of two parts, and sends the first. */
function sendHalf(url: string, token: string) {
  const boundary = 'xxxx';
  const sent = request(`${url}/api/v1/files/`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
  });
  sent.on('error', () => {});
  void once(sent, 'response').catch(() => {});
  sent.write(`--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n`);
  sent.write(Buffer.alloc(PART + 100_000));
  return sent;
}

/** Makes files and folders older than the sweep waits. */
async function age(folder: string, isMeant: (path: string) => boolean): Promise<void> {
  const old = new Date(Date.now() - 7_200_000);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries) {
    const path = join(parentPath, name);
    if (isMeant(path)) await utimes(path, old, old);
  }
}
