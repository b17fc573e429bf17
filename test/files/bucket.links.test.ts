import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Writable } from 'node:stream';
import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, describe, expect, it } from 'vitest';
import { startS3, withoutS3 } from '../support/s3.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { bearer, PNG, upload } from './forms.ts';

const HTML = '<!doctype html><script>alert(1)</script>';

describe.skipIf(withoutS3)('presigned downloads (needs versitygw)', async () => {
  if (withoutS3) return;
  const s3 = await startS3();
  const { name: Bucket, url } = await s3.bucket('&downloads=presigned');
  let log = '';
  const to = new Writable({
    write(line, _encoding, done) {
      log += line;
      done();
    },
  });
  const server = await startServer({ env: { FILES_URL: url }, log: to });
  afterAll(async () => {
    await server.close();
    await s3.stop();
  });
  const [, ann, bob] = await signUpAll(server, 'Root', 'Ann', 'Bob');
  const html = (await upload(server, ann, HTML, { filename: 'x "1".html' })).body.id;
  const png = (await upload(server, ann, PNG, { filename: 'x.html' })).body.id;
  /** Not by `fetch`, which sends headers of a browser's script. */
  async function ask(id: string, headers: Record<string, string>, method = 'GET', query = '') {
    const sent = request(`${server.url}/api/v1/files/${id}/content${query}`, { method, headers }).end();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return { status: response.statusCode, headers: new Headers(response.headers as Record<string, string>) };
  }

  it.each([
    ['HTML', html, '', 'application/octet-stream', `attachment; filename="x \\"1\\".html"`],
    ['a picture', png, '', 'image/png', 'inline; filename=x.html'],
    ['a picture to be saved', png, '?attachment=true', 'image/png', 'attachment; filename=x.html'],
  ])('pin type and disposition: %s', async (_what, id, query, type, disposition) => {
    const answer = await ask(id, bearer(ann), 'GET', query);
    const { status, headers } = answer;
    expect([status, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      302,
      'no-store',
      'no-referrer',
    ]);
    const location = new URL(headers.get('location') ?? '');
    expect([location.origin, location.searchParams.get('X-Amz-Expires')]).toEqual([s3.endpoint, '60']);
    const found = await fetch(location);
    expect([
      found.status,
      found.headers.get('content-type'),
      found.headers.get('content-disposition'),
    ]).toEqual([200, type, disposition]);
    expect((await found.arrayBuffer()).byteLength).toBe(id === png ? PNG.length : HTML.length);

    for (const [name, value] of [
      ['response-content-type', 'text/html'],
      ['response-content-disposition', 'inline'],
      ['X-Amz-Expires', '604800'],
    ] as const) {
      const forged = new URL(location);
      forged.searchParams.set(name, value);
      expect((await fetch(forged)).status).toBe(403);
    }
    const without = new URL(location);
    without.searchParams.delete('response-content-disposition');
    expect((await fetch(without)).status).toBe(403);
    const other = new URL(location);
    other.pathname = other.pathname.replace(id, id === png ? html : png);
    expect((await fetch(other)).status).toBe(403);
    expect((await fetch(location, { method: 'DELETE' })).status).toBe(403);
  });

  it('are for readers of the file alone', async () => {
    expect((await ask(html, bearer(bob))).status).toBe(404);
    expect((await ask(html, {})).status).toBe(401);
  });

  it.each<[string, Record<string, string>, number]>([
    ['a page that a browser opens', { 'sec-fetch-mode': 'navigate' }, 302],
    ['a picture in a page', { 'sec-fetch-mode': 'no-cors' }, 200],
    ['a script of a page', { 'sec-fetch-mode': 'cors' }, 200],
    ['a browser that does not tell', { cookie: 'x=y' }, 200],
  ])('leave the server only where a redirect works: %s', async (_what, headers, status) => {
    expect((await ask(png, { ...bearer(ann), ...headers })).status).toBe(status);
  });

  it('answer HEAD and 304 themselves', async () => {
    const head = await ask(png, bearer(ann), 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(PNG.length)]);
    const etag = head.headers.get('etag') ?? '';
    expect((await ask(png, { ...bearer(ann), 'if-none-match': etag })).status).toBe(304);
  });

  it('are 404 for a file that is gone from the bucket', async () => {
    const { id } = (await upload(server, ann, 'gone')).body;
    await s3.client.send(new DeleteObjectCommand({ Bucket, Key: `some/prefix/uploads/${id}` }));
    expect((await ask(id, bearer(ann))).status).toBe(404);
  });

  it('are not in the log', () => {
    expect(log).not.toContain('X-Amz-');
  });
});
