import { afterAll, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { NOWHERE } from '../support/doors.ts';
import { signUp, signUpAll, startServer } from '../support/server.ts';
import { bearer, PNG, upload } from './forms.ts';

/** Requests of Open WebUI clients about files. */
const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [admin, owner, reader, stranger] = await signUpAll(server, 'Admin', 'Owner', 'Reader', 'Stranger');
const pending = await signUp(server, 'Pending');

const text = (await upload(server, owner, 'Grüße', { filename: 'note 100%.txt' })).body;
const picture = (await upload(server, owner, PNG, { filename: 'dot.png' })).body;
const channel = await makeChannel(server, admin, grant(owner.id, 'write'), grant(reader.id, 'read'));
const files = [text, picture].map(({ id }) => ({ type: 'file', id }));
await as(owner)(`POST /channels/${channel}/messages/post`, { content: 'see', data: { files } });

describe('a text file', () => {
  it('is returned with its text, except in lists', async () => {
    expect(text).toMatchObject({ status: true, data: { status: 'completed' } });
    for (const person of [owner, reader]) {
      const { body } = await as(person)(`GET /files/${text.id}`);
      expect(body.data).toEqual({ status: 'completed', content: 'Grüße' });
      const { body: alone } = await as(person)(`GET /files/${text.id}/data/content`);
      expect(alone).toEqual({ content: 'Grüße' });
    }
    const { body: list } = await as(owner)('GET /files');
    expect(list).toMatchObject({ total: 2, items: [{ id: picture.id }, { data: { status: 'completed' } }] });
    expect(JSON.stringify(list)).not.toContain('Grüße');
  });

  it('of more than 1 MiB is returned without its text', async () => {
    const { id } = (await upload(server, stranger, 'x'.repeat(2 ** 20 + 1))).body;
    expect((await as(stranger)(`GET /files/${id}`)).body.data).toEqual({ status: 'completed' });
    expect((await as(stranger)(`GET /files/${id}/data/content`)).status).toBe(400);
  });

  it('that is not text has no text', async () => {
    expect((await as(owner)(`GET /files/${picture.id}`)).body.data).toEqual({ status: 'completed' });
    expect((await as(owner)(`GET /files/${picture.id}/data/content`)).body).toEqual({ content: '' });
  });

  it('of another user is not found', async () => {
    for (const path of ['', '/data/content', '/process/status']) {
      expect((await as(stranger)(`GET /files/${text.id}${path}`)).status).toBe(404);
      expect((await as(pending)(`GET /files/${text.id}${path}`)).status).toBe(401);
    }
  });
});

it('a stored file is ready, also for clients that wait for it by a stream', async () => {
  const path = `/files/${text.id}/process/status`;
  expect((await as(reader)(`GET ${path}`)).body).toEqual({ status: 'completed' });
  const streamed = await fetch(`${server.url}/api/v1${path}?stream=true`, { headers: bearer(reader) });
  expect(streamed.headers.get('content-type')).toContain('text/event-stream');
  expect(await streamed.text()).toBe('data: {"status":"completed"}\n\n');
});

it('files are found by name, and counted', async () => {
  const names = async (pattern: string, path = 'user/search') => {
    const { body } = await as(owner)(`GET /files/${path}?filename=${encodeURIComponent(pattern)}`);
    return body.map(({ filename }: { filename: string }) => filename);
  };
  expect(await names('*')).toEqual(['dot.png', 'note 100%.txt']);
  expect(await names('*.PNG', 'search')).toEqual(['dot.png']);
  expect(await names('???.png')).toEqual(['dot.png']);
  expect(await names('*100%.*')).toEqual(['note 100%.txt']);
  for (const pattern of ['note%', 'd_t.png', '.png', '\\']) expect(await names(pattern)).toEqual([]);
  expect((await as(owner)('GET /files/search?filename=none')).status).toBe(404);
  expect((await as(reader)('GET /files/user/search')).body).toEqual([]);
  for (const path of ['count', 'user/count']) {
    expect((await as(owner)(`GET /files/${path}`)).body).toBe(2);
    expect((await as(reader)(`GET /files/${path}`)).body).toBe(0);
    expect((await as(pending)(`GET /files/${path}`)).status).toBe(401);
  }
});

it('the text of a file may be replaced by its owner or an administrator; its bytes stay', async () => {
  const { id } = (await upload(server, owner, 'first', { filename: 'draft.txt' })).body;
  const update = (person: typeof owner, content: unknown, file = id) =>
    as(person)(`POST /files/${file}/data/content/update`, { content });
  expect(await update(owner, 'second')).toMatchObject({ status: 200, body: { content: 'second' } });
  expect((await as(owner)(`GET /files/${id}`)).body.data.content).toBe('second');
  expect((await as(owner)(`GET /files/${id}/data/content`)).body).toEqual({ content: 'second' });
  const bytes = await fetch(`${server.url}/api/v1/files/${id}/content`, { headers: bearer(owner) });
  expect(await bytes.text()).toBe('first');
  for (const content of ['', ' \n', null, 'x'.repeat(2 ** 20 + 1)])
    expect((await update(owner, content)).status).toBe(400);
  expect((await update(stranger, 'third')).status).toBe(404);
  expect((await update(owner, 'third', NOWHERE)).status).toBe(404);
  expect((await update(reader, 'third', text.id)).status).toBe(403);
  expect((await update(admin, 'third')).status).toBe(200);
  const { entries } = (await as(admin)('GET /audit?action=file.edit')).body;
  expect(entries).toMatchObject([{ action: 'file.edit', after: { filename: 'draft.txt' } }]);
  await as(owner)(`DELETE /files/${id}`);
});

it('a file may be renamed by its owner or an administrator, which the audit log records', async () => {
  const { id } = (await upload(server, owner, 'x', { filename: 'a.txt' })).body;
  const rename = (person: typeof owner, filename: unknown) =>
    as(person)(`POST /files/${id}/rename`, { filename });
  const { status, body } = await rename(owner, 'folder/b.txt');
  expect([status, body.filename, body.meta.name, body.id]).toEqual([200, 'b.txt', 'b.txt', id]);
  expect((await rename(admin, 'c.txt')).status).toBe(200);
  expect((await as(owner)(`GET /files/${id}`)).body.filename).toBe('c.txt');
  expect((await rename(stranger, 'd.txt')).status).toBe(404);
  expect((await as(reader)(`POST /files/${text.id}/rename`, { filename: 'x' })).status).toBe(403);
  for (const filename of ['', 'a\n', null]) expect((await rename(owner, filename)).status).toBe(400);
  const { entries } = (await as(admin)(`GET /audit?target=file:${id}`)).body;
  expect(entries).toMatchObject([{ action: 'file.rename', before: { filename: 'b.txt' } }]);
  expect(entries).toHaveLength(1);
});

it('a picture is downloaded instead of shown when its name or a parameter asks for it', async () => {
  const disposition = async (path: string) => {
    const url = `${server.url}/api/v1/files/${picture.id}/content${path}`;
    const response = await fetch(url, { headers: bearer(owner) });
    await response.arrayBuffer();
    return response.headers.get('content-disposition')?.split(';')[0];
  };
  expect(await disposition('')).toBe('inline');
  expect(await disposition('?attachment=true')).toBe('attachment');
  expect(await disposition('/dot.png')).toBe('attachment');
});

it.each(['', '/content', '/content/x.txt', '/data/content', '/process/status'])(
  'a malformed id answers 404: /files/word%s',
  async (path) => {
    expect((await as(owner)(`GET /files/word${path}`)).status).toBe(404);
    expect((await as(owner)(`GET /files/${NOWHERE}${path}`)).status).toBe(404);
    expect((await server.call(`GET /files/word${path}`)).status).toBe(401);
  },
);

it('all files may be deleted by administrators only', async () => {
  expect((await as(owner)('DELETE /files/all')).status).toBe(403);
  expect((await as(owner)('GET /files/count')).body).toBe(3);
  expect((await as(admin)('DELETE /files/all')).status).toBe(200);
  expect((await as(owner)('GET /files/count')).body).toBe(0);
  expect((await as(owner)(`GET /files/${text.id}`)).status).toBe(404);
  const { entries } = (await as(admin)('GET /audit?action=file.delete_all')).body;
  expect(entries).toMatchObject([{ actor_id: admin.id, before: { count: 4 } }]);
});
