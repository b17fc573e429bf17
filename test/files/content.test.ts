import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { signUp, signUpAs, startServer } from '../support/server.ts';
import { bearer, download, PNG, upload } from './forms.ts';

const TEXT = 'The quick brown fox';

const server = await startServer();
afterAll(() => server.close());
const admin = await signUp(server, 'Admin');
const owner = await signUpAs(server, admin, 'Owner', 'user');
const text = (await upload(server, owner, TEXT, { filename: 'Füchse "1".txt' })).body.id;

const get = (id: string, headers: Record<string, string> = {}, method = 'GET') =>
  download(server, id, { ...bearer(owner), ...headers }, method);
const ETAG = `"${createHash('sha256').update(TEXT).digest('hex')}"`;

describe('the bytes of a file', () => {
  it('are sent as a download without an origin, without scripts, and without type guessing', async () => {
    const { status, bytes, headers } = await get(text);
    expect([status, bytes.toString()]).toEqual([200, TEXT]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': String(TEXT.length),
      'content-disposition': `attachment; filename="F?chse \\"1\\".txt"; filename*=UTF-8''F%C3%BCchse%20%221%22.txt`,
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-site',
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
      etag: ETAG,
      'x-process-time': expect.stringMatching(/^\d+\.\d{6}$/),
      'x-request-id': expect.any(String),
    });
  });

  const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
  it.each<[string, Buffer | string, string, string]>([
    ['a picture', PNG, 'inline', 'image/png'],
    ['a GIF that is also a script', 'GIF89a/*xxxxxxxxxxxxxxx*/=1;alert(1)', 'inline', 'image/gif'],
    ['SVG', SVG, 'attachment', 'text/plain; charset=utf-8'],
    ['SVG with a prologue', `<?xml version="1.0"?>${SVG}`, 'attachment', 'application/xml'],
    ['HTML', '<!doctype html><script>alert(1)</script>', 'attachment', 'text/plain; charset=utf-8'],
    ['PDF', '%PDF-1.7\n%', 'attachment', 'application/pdf'],
    [
      'an archive',
      Buffer.from('504b0506000000000000000000000000000000000000', 'hex'),
      'attachment',
      'application/zip',
    ],
  ])('alone decide what a browser shows: %s', async (_what, bytes, disposition, type) => {
    for (const filename of ['x.html', 'x.svg', 'x.png']) {
      const { body } = await upload(server, owner, bytes, { filename });
      const { headers } = await get(body.id);
      expect(headers.get('content-disposition')).toBe(`${disposition}; filename=${filename}`);
      expect(headers.get('content-type')).toBe(type);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain('sandbox');
    }
  });

  it('are not sent again to clients that have them', async () => {
    for (const tag of [ETAG, `W/${ETAG}`, `"x", ${ETAG}`, '*']) {
      const { status, bytes, headers } = await get(text, { 'if-none-match': tag });
      expect([status, bytes.length, headers.get('etag')]).toEqual([304, 0, ETAG]);
    }
    expect((await get(text, { 'if-none-match': '"x"' })).status).toBe(200);
  });

  it.each([
    ['bytes=4-8', 206, 'quick', `bytes 4-8/${TEXT.length}`],
    ['bytes=-3', 206, 'fox', `bytes 16-18/${TEXT.length}`],
    ['bytes=16-', 206, 'fox', `bytes 16-18/${TEXT.length}`],
    ['bytes=16-9999', 206, 'fox', `bytes 16-18/${TEXT.length}`],
    ['bytes=0-0,16-18', 200, TEXT, null],
    ['lines=1-2', 200, TEXT, null],
    ['bytes=x', 200, TEXT, null],
  ])('follow a valid range, and ignore other ones: %s', async (range, status, bytes, contentRange) => {
    const answer = await get(text, { range });
    expect([answer.status, answer.bytes.toString()]).toEqual([status, bytes]);
    expect(answer.headers.get('content-range')).toBe(contentRange);
    expect(answer.headers.get('content-length')).toBe(String(bytes.length));
  });

  it('are refused for a range past the end, and sent whole when the file has changed', async () => {
    const past = await get(text, { range: 'bytes=99-100' });
    expect([past.status, past.headers.get('content-range')]).toEqual([416, `bytes */${TEXT.length}`]);
    expect(JSON.parse(past.bytes.toString()).code).toBe('range_unsatisfiable');
    expect((await get(text, { range: 'bytes=0-1', 'if-range': ETAG })).status).toBe(206);
    expect((await get(text, { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
  });

  it('are described by HEAD', async () => {
    const { status, bytes, headers } = await get(text, {}, 'HEAD');
    expect([status, bytes.length, headers.get('content-length')]).toEqual([200, 0, String(TEXT.length)]);
    const empty = (await upload(server, owner, '')).body.id;
    expect((await get(empty)).headers.get('content-length')).toBe('0');
  });

  it.each(['..%2f..%2fpackage.json', '%252e%252e', 'x', '%00', `${'a'.repeat(500)}`])(
    'are not found by a malformed id: %s',
    async (id) => {
      const { status, bytes } = await get(id);
      expect([400, 404]).toContain(status);
      expect(JSON.parse(bytes.toString()).code).toMatch(/^(validation|not_found|bad_request)$/);
    },
  );

  it('that are missing on the disk are not found, under both prefixes', async () => {
    const { body } = await upload(server, owner, 'x');
    await rm(join(server.dataDir, 'uploads', body.id));
    expect((await get(body.id)).status).toBe(404);
    for (const path of [`/api/files/${text}/content`, `/api/v1/files/${text}/content/`]) {
      expect((await fetch(server.url + path, { headers: bearer(owner) })).status).toBe(200);
    }
  });
});
