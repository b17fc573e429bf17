import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { until } from '../support/poll.ts';
import { type Person, signUp, signUpAll, startServer } from '../support/server.ts';
import { bearer, PNG, sendForm, upload } from './forms.ts';

const server = await startServer();
afterAll(() => server.close());
const [admin, owner] = await signUpAll(server, 'Admin', 'Owner');
const pending = await signUp(server, 'Pending');

const onDisk = () => readdir(join(server.dataDir, 'uploads'));
const rows = () => server.database.query('select id from file');
const formOf = (...parts: [name: string, value: string | Blob, filename?: string][]) => {
  const form = new FormData();
  for (const [name, value, filename] of parts) {
    if (value instanceof Blob) form.append(name, value, filename);
    else form.append(name, value);
  }
  return form;
};

async function configure(files: Record<string, unknown>) {
  const { body } = await server.call('GET /configs/export', { token: admin.token });
  return server.call('POST /configs/import', { token: admin.token, body: { ...body, files } });
}

describe('an upload', () => {
  it('is stored under its id, and answered with the type of its bytes', async () => {
    const { status, body, headers } = await upload(server, owner, PNG, {
      filename: 'photo.html',
      metadata: { channel_id: 'x' },
    });
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        status: true,
        id: expect.any(String),
        user_id: owner.id,
        data: { status: 'completed' },
        hash: createHash('sha256').update(PNG).digest('hex'),
        filename: 'photo.html',
        meta: { name: 'photo.html', content_type: 'image/png', size: PNG.length, data: { channel_id: 'x' } },
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      },
    });
    expect(headers.get('x-process-time')).toMatch(/^\d+\.\d{6}$/);
    expect(await readFile(join(server.dataDir, 'uploads', body.id))).toEqual(PNG);
    expect((await server.call(`GET /files/${body.id}`, { token: owner.token })).body).toEqual(
      Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'status')),
    );
  });

  it.each(['/api/v1/files', '/api/files/', '/api/files'])('works at %s too', async (path) => {
    const form = formOf(['file', new Blob([PNG]), 'x.png']);
    expect((await sendForm(server, form, bearer(owner), path)).status).toBe(200);
  });

  it.each([
    ['text', 'text/plain; charset=utf-8'],
    ['<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'text/plain; charset=utf-8'],
    ['<!doctype html><script>alert(1)</script>', 'text/plain; charset=utf-8'],
    ['', 'text/plain; charset=utf-8'],
    [Buffer.from([0, 1, 2, 3]), 'application/octet-stream'],
    // The cut after 4100 bytes is within a character.
    ['xé'.repeat(5_000), 'text/plain; charset=utf-8'],
  ])('gets the type of its bytes: %#', async (bytes, type) => {
    const { body } = await upload(server, owner, bytes, { filename: 'x.png' });
    expect(body.meta.content_type).toBe(type);
  });

  it.each([
    ['Résumé 文書.pdf', 'Résumé 文書.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\boot.ini', 'boot.ini'],
    ['..%2f..%252e', '..%2f..%252e'],
    ['a'.repeat(256), 'a'.repeat(256)],
    ['report\u202Efdp.exe', 'reportfdp.exe'],
  ])('keeps the last segment of its name, and never makes a path of it: %s', async (filename, kept) => {
    const before = await onDisk();
    const { status, body } = await upload(server, owner, 'x', { filename });
    expect([status, body.filename]).toEqual([200, kept]);
    const added = (await onDisk()).filter((name) => !before.includes(name));
    expect(added).toEqual([body.id]);
  });

  it('accepts metadata behind the file, and metadata with a content type', async () => {
    const form = formOf(['file', new Blob(['x']), 'x'], ['metadata', '{"a": 1}'], ['other', 'x']);
    expect((await sendForm(server, form, bearer(owner))).body.meta.data).toEqual({ a: 1 });
  });
});

describe('an invalid upload', () => {
  const multipart = 'multipart/form-data; boundary=b';
  const part = (head: string, content = 'x') =>
    `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const FILE = part('name="file"; filename="x"');

  it.each<[string, string, string, number, string]>([
    ['JSON', 'application/json', '{}', 415, 'media_type'],
    ['text', 'text/plain', 'x', 415, 'media_type'],
    ['no boundary', 'multipart/form-data', 'x', 400, 'bad_request'],
    ['an empty boundary', 'multipart/form-data; boundary=', 'x', 400, 'bad_request'],
    ['another boundary', 'multipart/form-data; boundary=c', `${FILE}--b--`, 400, 'bad_request'],
    ['a form that is cut off', multipart, FILE.slice(0, -4), 400, 'bad_request'],
    ['a long form that is cut off', multipart, FILE + 'x'.repeat(500_000), 400, 'bad_request'],
    ['a long file that is cut off', multipart, FILE.slice(0, -2) + 'x'.repeat(500_000), 400, 'bad_request'],
    ['a form that is cut off within a header', multipart, '--b\r\nContent-Disp', 400, 'bad_request'],
    ['an empty form', multipart, '--b--\r\n', 400, 'validation'],
    ['no body', multipart, '', 400, 'validation'],
    ['a field instead of a file', multipart, `${part('name="file"')}--b--`, 400, 'validation'],
    [
      'a file under another field name',
      multipart,
      `${part('name="upload"; filename="x"')}--b--`,
      400,
      'validation',
    ],
    ['a name without a file', multipart, `${part('name="file"; filename=".."')}--b--`, 400, 'validation'],
    ['no filename', multipart, `${part('name="file"; filename=""')}--b--`, 400, 'validation'],
    [
      'a name of 257 characters',
      multipart,
      `${part(`name="file"; filename="${'a'.repeat(257)}"`)}--b--`,
      400,
      'validation',
    ],
    ['a NUL in the name', multipart, `${part('name="file"; filename="a\0b"')}--b--`, 400, 'validation'],
    ['two files', multipart, `${FILE}${FILE}--b--`, 413, 'too_large'],
    ['many fields', multipart, `${part('name="a"').repeat(50)}${FILE}--b--`, 413, 'too_large'],
    [
      'metadata that are not JSON',
      multipart,
      `${FILE}${part('name="metadata"', '{')}--b--`,
      400,
      'validation',
    ],
    [
      'metadata that are a list',
      multipart,
      `${FILE}${part('name="metadata"', '[]')}--b--`,
      400,
      'validation',
    ],
    [
      'metadata of more than 8 KiB',
      multipart,
      `${FILE}${part('name="metadata"', JSON.stringify({ a: 'x'.repeat(8192) }))}--b--`,
      400,
      'validation',
    ],
    [
      'long metadata',
      multipart,
      `${FILE}${part('name="metadata"', 'x'.repeat(300_000))}--b--`,
      413,
      'too_large',
    ],
    ['a field named __proto__', multipart, `${part('name="__proto__"')}${FILE}--b--`, 400, 'bad_request'],
  ])('%s is refused and leaves nothing', async (_what, type, body, status, code) => {
    const before = [await onDisk(), await rows()];
    const answer = await sendForm(server, body, { ...bearer(owner), 'content-type': type });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
    expect(answer.body.detail).toEqual(expect.any(String));
    expect([await onDisk(), await rows()]).toEqual(before);
  });

  it.each([
    ['a caller without credentials', () => ({}), 401, 'unauthenticated'],
    ['a wrong token', () => ({ authorization: 'Bearer x' }), 401, 'unauthenticated'],
    ['a pending account', () => bearer(pending), 401, 'account_pending'],
    [
      'a page of another origin',
      () => ({ cookie: `token=${owner.token}`, origin: 'https://evil.example' }),
      403,
      'origin_forbidden',
    ],
  ])('%s may not upload', async (_who, headers, status, code) => {
    const answer = await sendForm(server, formOf(['file', new Blob(['x']), 'x']), headers());
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  });

  it('a member without the permission may not upload', async () => {
    const { body } = await server.call('GET /configs/export', { token: admin.token });
    const denied = structuredClone(body);
    denied.user.permissions.chat.file_upload = false;
    await server.call('POST /configs/import', { token: admin.token, body: denied });
    expect((await upload(server, owner, 'x')).status).toBe(403);
    expect((await upload(server, admin, 'x')).status).toBe(200);
    await server.call('POST /configs/import', { token: admin.token, body });
  });
});

describe('limits', () => {
  it('a file above files.max_size is refused while it arrives, and leaves nothing', async () => {
    expect((await configure({ max_size: 10 })).status).toBe(400);
    expect((await configure({ max_size: 2_000 })).status).toBe(200);
    const before = [await onDisk(), await rows()];
    // The second has a length header above the limit and the allowance for a form.
    for (const size of [2_001, 3_000_000]) {
      const { status, body } = await upload(server, owner, Buffer.alloc(size));
      expect([status, body.code]).toEqual([413, 'too_large']);
      expect(body.detail).toContain('2000 bytes');
    }
    expect([await onDisk(), await rows()]).toEqual(before);
    expect((await upload(server, owner, Buffer.alloc(2_000))).status).toBe(200);
    await configure({ max_size: 100_000_000 });
  });

  /** Begins an upload and leaves it unfinished. */
  async function begin(person: Person) {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      `POST /api/v1/files HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${person.token}\r\nContent-Length: 1000000\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\n\r\n' +
        `--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n${'x'.repeat(100_000)}`,
    );
    return socket;
  }
  const unfinished = async () => (await onDisk()).filter((name) => name.endsWith('.part')).length;

  it('a client that disconnects leaves nothing; more than four uploads at once wait', async () => {
    const before = await onDisk();
    const sockets = await Promise.all(Array.from({ length: 4 }, () => begin(owner)));
    await until('four uploads are under way', async () => (await unfinished()) === 4);
    const { status, body, headers } = await upload(server, owner, 'x');
    expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
    expect((await upload(server, admin, 'x')).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await until('nothing is left of them', async () => (await unfinished()) === 0);
    expect(await onDisk()).toHaveLength(before.length + 1);
    await until('another may begin', async () => (await upload(server, owner, 'x')).status === 200);
  });
});

const mount = (folder: string) => spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mount-'));
  const isMounted = mount(folder).status === 0;
  if (isMounted) execFileSync('umount', [folder]);
  rmdirSync(folder);
  return isMounted;
}

it.skipIf(!mayMount())(
  'an upload without room on the disk leaves neither row nor file, and reading goes on (needs the right to mount)',
  async () => {
    const folder = join(server.dataDir, 'uploads');
    expect(mount(folder).status).toBe(0);
    try {
      const { body: small } = await upload(server, owner, 'small');
      const [files, stored] = [await onDisk(), await rows()];
      const refused = await upload(server, owner, Buffer.alloc(2 ** 20));
      expect([refused.status, refused.body.code]).toEqual([507, 'storage_full']);
      expect(await onDisk()).toEqual(files);
      expect(await rows()).toEqual(stored);
      const read = await fetch(`${server.url}/api/v1/files/${small.id}/content`, { headers: bearer(owner) });
      expect(await read.text()).toBe('small');
      expect((await upload(server, owner, 'fits')).status).toBe(200);
    } finally {
      execFileSync('umount', ['-l', folder]);
    }
  },
);
