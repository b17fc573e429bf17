import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { startS3, withoutS3 } from '../support/s3.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { bearer, download, PNG, upload } from './forms.ts';

describe.skipIf(withoutS3)('files in a bucket (needs versitygw)', async () => {
  if (withoutS3) return;
  const s3 = await startS3();
  const { name: Bucket, url } = await s3.bucket();
  const server = await startServer({ env: { FILES_URL: url } });
  afterAll(async () => {
    await server.close();
    await s3.stop();
  });
  const [root, ann, bob] = await signUpAll(server, 'Root', 'Ann', 'Bob');
  const keyOf = (id: string) => `some/prefix/uploads/${id}`;
  const listKeys = async () => {
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket }));
    return Contents.map(({ Key }) => Key);
  };

  it('are stored under their ids alone, and not on the disk', async () => {
    for (const filename of ['../../etc/passwd', '..\\x', 'a/b?c#d%00.txt']) {
      const { status, body } = await upload(server, ann, 'x', { filename });
      expect(status).toBe(200);
      expect(await listKeys()).toContain(keyOf(body.id));
      await server.as(ann)(`DELETE /files/${body.id}`);
    }
    expect(await listKeys()).toEqual(['some/prefix/parley-installation']);
    expect(existsSync(join(server.dataDir, 'uploads'))).toBe(false);
  });

  it('are sent with the same headers as from a folder, to readers alone', async () => {
    const { id } = (await upload(server, ann, '<script>alert(1)</script>', { filename: 'x.html' })).body;
    const { status, bytes, headers } = await download(server, id, bearer(ann));
    expect([status, bytes.toString()]).toEqual([200, '<script>alert(1)</script>']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': 'attachment; filename=x.html',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'content-length': '25',
    });
    for (const other of [bob, root]) expect((await download(server, id, bearer(other))).status).toBe(404);
    expect((await download(server, id, {})).status).toBe(401);
  });

  it('of many parts arrive whole, and are read in ranges', async () => {
    const content = randomBytes(20 * 1024 * 1024 + 1);
    const { body } = await upload(server, ann, content);
    expect(body.hash).toBe(createHash('sha256').update(content).digest('hex'));
    const whole = await download(server, body.id, bearer(ann));
    expect(whole.bytes.equals(content)).toBe(true);
    const range = { range: `bytes=${9 * 1024 * 1024}-${9 * 1024 * 1024 + 99}` };
    const part = await download(server, body.id, { ...bearer(ann), ...range });
    expect([part.status, part.headers.get('content-length')]).toEqual([206, '100']);
    expect(part.bytes.equals(content.subarray(9 * 1024 * 1024, 9 * 1024 * 1024 + 100))).toBe(true);
    const head = await download(server, body.id, bearer(ann), 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(content.length)]);
    const past = await download(server, body.id, { ...bearer(ann), range: 'bytes=99999999-' });
    expect(past.status).toBe(416);
  });

  it('may be empty', async () => {
    const { body } = await upload(server, ann, '');
    const { status, bytes } = await download(server, body.id, bearer(ann));
    expect([status, bytes.length]).toEqual([200, 0]);
  });

  it('are the text of details', async () => {
    const { body } = await upload(server, ann, 'Some words');
    expect((await server.as(ann)(`GET /files/${body.id}`)).body.data.content).toBe('Some words');
  });

  it('that are too large leave nothing', async () => {
    const before = await listKeys();
    const config = (await server.as(root)('GET /configs/export')).body;
    await server.as(root)('POST /configs/import', {
      ...config,
      files: { ...config.files, max_size: 9_000_000 },
    });
    const { status, body } = await upload(server, ann, Buffer.alloc(9_000_001));
    expect([status, body.code]).toEqual([413, 'too_large']);
    await server.as(root)('POST /configs/import', config);
    expect(await listKeys()).toEqual(before);
  });

  it('that were removed from the bucket answer 404, without the headers of a file', async () => {
    const { body } = await upload(server, ann, PNG);
    await s3.client.send(new DeleteObjectCommand({ Bucket, Key: keyOf(body.id) }));
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await download(server, body.id, bearer(ann), method);
      expect([status, headers.get('etag')]).toEqual([404, null]);
    }
    expect((await server.as(ann)(`DELETE /files/${body.id}`)).status).toBe(200);
  });

  it('are removed together by an administrator', async () => {
    await Promise.all(
      Array.from({ length: 40 }, () => upload(server, bob, 'x').then(() => upload(server, ann, 'y'))),
    );
    expect((await server.as(root)('DELETE /files/all')).status).toBe(200);
    expect(await listKeys()).toEqual(['some/prefix/parley-installation']);
  });

  it('belong to one installation', async () => {
    const found = await s3.client.send(
      new GetObjectCommand({ Bucket, Key: 'some/prefix/parley-installation' }),
    );
    const { body } = await server.as(root)('GET /version');
    expect(await found.Body?.transformToString()).toBe(body.deployment_id);
    await expect(startServer({ env: { FILES_URL: url } })).rejects.toThrow(/belong to another installation/);
  });

  it('are not asked for at an address that the endpoint redirects to', async () => {
    const asked: (string | undefined)[] = [];
    const other = createServer((request, response) => response.end(void asked.push(request.url)));
    const redirecting = createServer((_request, response) => {
      const { port } = other.address() as AddressInfo;
      response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end();
    });
    for (const one of [other, redirecting]) await once(one.listen(0, '127.0.0.1'), 'listening');
    const { port } = redirecting.address() as AddressInfo;
    const FILES_URL = `s3://any-bucket?endpoint=http://127.0.0.1:${port}`;
    await expect(startServer({ env: { FILES_URL } })).rejects.toThrow('it answered 307');
    expect(asked).toEqual([]);
    other.close();
    redirecting.close();
  });

  it.each([
    ['s3://no-such-bucket', {}, 'there is no such bucket'],
    ['s3://bucket-1', { AWS_SECRET_ACCESS_KEY: 'wrong' }, 'the credentials are wrong'],
  ])('stop the start when the bucket cannot be used: %s %o', async (bucket, variables, reason) => {
    const { AWS_SECRET_ACCESS_KEY } = process.env;
    Object.assign(process.env, variables);
    const FILES_URL = `${bucket}?endpoint=${s3.endpoint}`;
    await expect(startServer({ env: { FILES_URL } })).rejects.toThrow(reason);
    process.env.AWS_SECRET_ACCESS_KEY = AWS_SECRET_ACCESS_KEY;
  });
});
