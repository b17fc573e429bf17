import { afterAll, describe, expect, it } from 'vitest';
import { grant, makeChannel } from '../support/channels.ts';
import { type Person, signUp, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { download, PNG, upload } from './forms.ts';

const server = await startServer();
afterAll(() => server.close());
const [admin, owner, reader, stranger] = await signUpAll(server, 'Admin', 'Owner', 'Reader', 'Stranger');
const pending = await signUp(server, 'Pending');

const uploaded = async (person = owner) => (await upload(server, person, PNG)).body.id as string;
const item = (id: string) => ({ type: 'image', id, url: `/api/v1/files/${id}/content` });

const channelWith = (...people: Person[]) =>
  makeChannel(server, admin, ...people.map(({ id }) => grant(id, 'write')));

const post = (person: Person, channelId: string, files: unknown) =>
  server.call(`POST /channels/${channelId}/messages/post`, {
    token: person.token,
    body: { content: 'see', data: { files } },
  });

/** The statuses of a file for a person: its record and its bytes. */
const statuses = async ({ token }: Person, id: string) => [
  (await server.call(`GET /files/${id}`, { token })).status,
  (await download(server, id, { authorization: `Bearer ${token}` })).status,
];

describe('a file', () => {
  it('can be read only by its owner, not by administrators; other people get 404', async () => {
    const id = await uploaded();
    expect(await statuses(owner, id)).toEqual([200, 200]);
    for (const person of [admin, reader]) expect(await statuses(person, id)).toEqual([404, 404]);
    expect(await statuses(pending, id)).toEqual([401, 401]);
    expect(await statuses({ id: '', email: '', token: 'x' }, id)).toEqual([401, 401]);
    const none = '019ab000-0000-7000-8000-000000000000';
    const [hidden, missing] = await Promise.all(
      [id, none].map((one) => server.call(`GET /files/${one}`, { token: reader.token })),
    );
    expect(hidden?.body).toEqual(missing?.body);
  });

  it('can be read through a message by all readers of that message', async () => {
    const id = await uploaded();
    const channel = await channelWith(owner, reader);
    const { status, body } = await post(owner, channel, [item(id)]);
    expect(status).toBe(200);
    for (const person of [reader, admin]) expect(await statuses(person, id)).toEqual([200, 200]);
    expect(await statuses(stranger, id)).toEqual([404, 404]);

    const path = `/channels/${channel}`;
    await server.call(`POST ${path}/update`, {
      token: admin.token,
      body: { access_grants: [grant(owner.id, 'write')] },
    });
    expect(await statuses(reader, id)).toEqual([404, 404]);

    await server.call(`POST ${path}/messages/post`, {
      token: owner.token,
      body: { content: 'reply', parent_id: body.id },
    });
    // A tombstone stays, which has no files.
    await server.call(`DELETE ${path}/messages/${body.id}/delete`, { token: owner.token });
    expect(await statuses(admin, id)).toEqual([404, 404]);
    expect(await statuses(owner, id)).toEqual([200, 200]);
  });

  it('is in the list of the channel while a message carries it, newest first', async () => {
    const channel = await channelWith(owner);
    const [first, second] = [await uploaded(), await uploaded()];
    const { body: root } = await post(owner, channel, [item(first)]);
    await post(owner, channel, []);
    const { body: reply } = await server.as(owner)(`POST /channels/${channel}/messages/post`, {
      content: 'in a thread',
      parent_id: root.id,
      data: { files: [item(second)] },
    });
    const listed = async () =>
      (await server.as(owner)(`GET /channels/${channel}/messages/files`)).body.map(
        ({ id, data }: { id: string; data: { files: { id: string }[] } }) => [id, data.files[0]?.id],
      );
    expect(await listed()).toEqual([
      [reply.id, second],
      [root.id, first],
    ]);
    await server.as(owner)(`DELETE /channels/${channel}/messages/${reply.id}/delete`);
    expect(await listed()).toEqual([[root.id, first]]);
  });

  it('of a group channel can be read by its members, not by administrators outside', async () => {
    const id = await uploaded();
    const { body: group } = await server.call('POST /channels/create', {
      token: owner.token,
      body: { name: 'group', type: 'group', user_ids: [reader.id] },
    });
    expect((await post(owner, group.id, [item(id)])).status).toBe(200);
    expect(await statuses(reader, id)).toEqual([200, 200]);
    expect(await statuses(admin, id)).toEqual([404, 404]);
  });

  it('cannot be read through channels while channels are off', async () => {
    const id = await uploaded();
    const channel = await channelWith(owner, reader);
    await post(owner, channel, [item(id)]);
    const { body } = await server.call('GET /configs/export', { token: admin.token });
    const set = (enable: boolean) =>
      server.call('POST /configs/import', { token: admin.token, body: { ...body, channels: { enable } } });
    await set(false);
    expect(await statuses(reader, id)).toEqual([404, 404]);
    expect(await statuses(owner, id)).toEqual([200, 200]);
    await set(true);
    expect(await statuses(reader, id)).toEqual([200, 200]);
  });

  it('is deleted with its bytes by its owner or an administrator', async () => {
    const id = await uploaded();
    const channel = await channelWith(owner, reader);
    const { body } = await post(owner, channel, [item(id)]);
    const remove = (person: Person) => server.call(`DELETE /files/${id}`, { token: person.token });
    expect((await remove(stranger)).status).toBe(404);
    expect((await remove(reader)).status).toBe(403);
    expect(await statuses(reader, id)).toEqual([200, 200]);
    const twice = await Promise.all([remove(owner), remove(owner)]);
    expect(twice.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    expect(await statuses(owner, id)).toEqual([404, 404]);
    // The content of the message stays.
    const message = await server.call(`GET /channels/${channel}/messages/${body.id}`, {
      token: reader.token,
    });
    expect(message.body.data.files).toEqual([item(id)]);
    const other = await uploaded();
    expect((await server.call(`DELETE /files/${other}`, { token: admin.token })).body).toBe(true);
    expect(await statuses(owner, other)).toEqual([404, 404]);
    // The audit log records deletions by other people, and not those by the owner.
    const audit = async (file: string) =>
      (await server.call(`GET /audit?target=file:${file}`, { token: admin.token })).body.entries;
    expect(await audit(other)).toMatchObject([
      { action: 'file.delete', actor_id: admin.id, before: { user_id: owner.id }, after: null },
    ]);
    expect(await audit(id)).toEqual([]);
  });

  it('is in the list of its owner only, newest first, in one statement', async () => {
    const person = await signUpAs(server, admin, 'Lister', 'user');
    const ids = [await uploaded(person), await uploaded(person), await uploaded(person)];
    const list = (query: string, { token } = person) => server.call(`GET /files/${query}`, { token });
    const idsOf = async (query: string, who = person) =>
      (await list(query, who)).body.items.map(({ id }: { id: string }) => id);
    expect(await idsOf('')).toEqual(ids.toReversed());
    expect(await idsOf('?skip=1&limit=1')).toEqual([ids[1]]);
    expect((await list('?limit=1')).body.total).toBe(3);
    expect(await idsOf('?limit=1&page=3')).toEqual([ids[0]]);
    expect(await idsOf('', admin)).not.toContain(ids[0]);
    for (const query of ['?limit=0', '?limit=201', '?skip=-1', '?limit=x', '?page=0']) {
      expect((await list(query)).status).toBe(400);
    }
    const sent = await recordStatements(() => list(''));
    expect(sent).toHaveLength(1);
  });

  it('can be deleted by cookie only from our own origin', async () => {
    const id = await uploaded();
    const cookie = { cookie: `token=${owner.token}` };
    const remove = (headers: Record<string, string>) => server.call(`DELETE /files/${id}`, { headers });
    expect((await remove({ ...cookie, origin: 'https://evil.example' })).body.code).toBe('origin_forbidden');
    expect((await download(server, id, cookie)).status).toBe(200);
    expect((await remove({ ...cookie, origin: server.url })).status).toBe(200);
  });
});

describe('the files of a message', () => {
  it('may be those that the author may read: own files, and files of messages', async () => {
    const channel = await channelWith(owner, reader, stranger);
    const hidden = await channelWith(owner, reader);
    const id = await uploaded();
    for (const path of [`/api/v1/files/${id}/content`, `/api/files/${id}`, id, id.toUpperCase(), undefined]) {
      const foreign = { type: 'image', url: path, id: path ? undefined : id };
      const { status, body } = await post(stranger, channel, [foreign]);
      expect([path, status, body.code]).toEqual([path, 400, 'bad_request']);
      expect(body.detail).toContain(id);
    }
    expect((await post(stranger, channel, [{ type: 'file', file: { id } }])).status).toBe(400);
    await post(owner, hidden, [item(id)]);
    expect((await post(reader, channel, [item(id)])).status).toBe(200);
    expect(await statuses(stranger, id)).toEqual([200, 200]);
  });

  const PIXEL = `data:image/png;base64,${PNG.toString('base64')}`;
  it.each<[number, unknown]>([
    [200, []],
    [200, null],
    [200, [{ type: 'image', url: PIXEL }]],
    [200, [{ type: 'collection', id: '019ab000-0000-7000-8000-000000000000', name: 'x' }]],
    [200, [{ type: 'web', url: 'https://example.com/' }]],
    [200, [{ type: 'file', name: 'x', url: '' }]],
    [400, [{ type: 'image', url: 'https://tracker.example/x.png' }]],
    [400, [{ type: 'web', content_type: 'image/png', url: 'https://tracker.example/x.png' }]],
    [400, [{ url: '//tracker.example/x.png' }]],
    [400, [{ type: 'file', url: 'javascript:alert(1)' }]],
    [400, [{ type: 'web', url: 'javascript:alert(1)' }]],
    [400, [{ type: 'image', url: 'data:image/svg+xml;base64,PHN2Zy8+' }]],
    [400, [{ type: 'image', url: 'data:text/html,x' }]],
    [400, [{ type: 'image', url: 5 }]],
    [400, [{ type: 'file', id: '019ab000-0000-7000-8000-000000000000' }]],
    [400, ['x']],
    [400, [null]],
    [400, 'x'],
    [400, { 0: {} }],
    [400, Array.from({ length: 21 }, () => ({ type: 'web' }))],
  ])('are answered with %i: %j', async (status, files) => {
    const channel = await channelWith(owner);
    const answer = await post(owner, channel, files);
    expect([answer.status, answer.body.detail]).toEqual([
      status,
      status === 200 ? undefined : expect.stringContaining('data.files'),
    ]);
  });

  it('may have our own address in front of a path', async () => {
    const { body } = await server.call('GET /configs/export', { token: admin.token });
    const url = 'https://chat.example.com';
    await server.call('POST /configs/import', { token: admin.token, body: { ...body, webui: { url } } });
    const channel = await channelWith(owner);
    const path = `/api/v1/files/${await uploaded()}/content`;
    expect((await post(owner, channel, [{ type: 'image', url: url + path }])).status).toBe(200);
    expect((await post(owner, channel, [{ type: 'image', url: `${url}.evil${path}` }])).status).toBe(400);
  });

  it('follow the same rules in an edit', async () => {
    const channel = await channelWith(owner, reader);
    const message = (await post(owner, channel, [])).body.id;
    const edit = (person: Person, files: unknown) =>
      server.call(`POST /channels/${channel}/messages/${message}/update`, {
        token: person.token,
        body: { content: 'see', data: { files } },
      });
    const foreign = await uploaded(stranger);
    expect((await edit(owner, [item(foreign)])).status).toBe(400);
    const own = await uploaded(reader);
    expect((await edit(reader, [item(own)])).status).toBe(200);
    expect(await statuses(owner, own)).toEqual([200, 200]);
    expect((await edit(reader, [])).status).toBe(200);
    expect(await statuses(owner, own)).toEqual([404, 404]);
  });
});
