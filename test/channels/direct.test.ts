import { afterAll, describe, expect, it } from 'vitest';
import { type Person, signUpAll, signUpAs, startServer } from '../support/server.ts';

const NOBODY = '018f0000-0000-7000-8000-000000000000';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [admin, ann, ben, cleo] = await signUpAll(server, 'Admin', 'Ann', 'Ben', 'Cleo');

const listed = async (person: Person): Promise<string[]> =>
  (await as(person)('GET /channels')).body.map(({ id }: { id: string }) => id);

describe('a direct channel', () => {
  it('is one for the same people, for each of them and for concurrent requests', async () => {
    const asks = Array.from({ length: 6 }, () => [
      as(ann)(`GET /channels/users/${ben.id}`),
      as(ben)(`GET /channels/users/${ann.id}`),
      as(ben)('POST /channels/create', { type: 'dm', user_ids: [ann.id, ben.id, ann.id] }),
    ]);
    const answers = await Promise.all(asks.flat());
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers[0]?.body).toMatchObject({
      type: 'dm',
      write_access: true,
      is_manager: false,
      user_count: 2,
      access_grants: [],
    });
    expect(new Set(answers[0]?.body.user_ids)).toEqual(new Set([ann.id, ben.id]));
    const log = await server.database.query('select type from channel_event where channel_id = $1', [
      answers[0]?.body.id,
    ]);
    expect(log).toEqual([{ type: 'channel:created' }]);
  });

  it('is not made by a link on a page of another site, which sends only the cookie', async () => {
    const dee = await signUpAs(server, admin, 'Dee', 'user');
    const count = async () => (await server.database.query("select from channel where type = 'dm'")).length;
    const before = await count();
    const open = (headers: Record<string, string>) =>
      server.call(`GET /channels/users/${cleo.id}`, {
        headers: { cookie: `token=${dee.token}`, ...headers },
      });
    for (const site of ['cross-site', 'same-site', 'none'])
      expect((await open({ 'sec-fetch-site': site })).body).toMatchObject({ code: 'origin_forbidden' });
    expect((await open({ origin: 'https://elsewhere.example' })).status).toBe(403);
    const input = encodeURIComponent(JSON.stringify({ user_id: cleo.id }));
    const link = `${server.url}/trpc/channels.direct?input=${input}`;
    expect((await fetch(link, { headers: { cookie: `token=${dee.token}` } })).status).toBe(403);
    expect(await count()).toBe(before);
    expect((await open({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect(await count()).toBe(before + 1);
  });

  it('of three people is another one than that of two of them', async () => {
    const three = await as(ann)('POST /channels/create', { type: 'dm', user_ids: [ben.id, cleo.id] });
    expect(three.body.user_ids).toHaveLength(3);
    expect((await as(ann)(`GET /channels/users/${ben.id}`)).body.id).not.toBe(three.body.id);
    const again = await as(cleo)('POST /channels/create', {
      type: 'dm',
      name: 'x',
      user_ids: [ann.id, ben.id],
    });
    expect(again.body).toMatchObject({ id: three.body.id, name: '' });
  });

  it('fails without an answer about its people while the database is broken', async () => {
    await server.database.query('alter table users rename to users_away');
    try {
      const answer = await as(ann)(`GET /channels/users/${cleo.id}`);
      expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } });
    } finally {
      await server.database.query('alter table users_away rename to users');
    }
    expect((await as(ann)(`GET /channels/users/${NOBODY}`)).status).toBe(404);
  });

  it('may have only one member', async () => {
    const { body } = await as(ann)(`GET /channels/users/${ann.id}`);
    expect(body).toMatchObject({ user_ids: [ann.id], user_count: 1 });
    expect((await as(ann)(`GET /channels/users/${ann.id.toUpperCase()}`)).body.id).toBe(body.id);
  });

  it('cannot be read, listed, changed or deleted by an administrator outside of it', async () => {
    const { id } = (await as(ann)(`GET /channels/users/${ben.id}`)).body;
    expect((await as(admin)(`GET /channels/${id}`)).status).toBe(403);
    const all = (await as(admin)('GET /channels/list')).body.map((channel: { id: string }) => channel.id);
    expect(all).not.toContain(id);
    for (const person of [admin, ann, cleo]) {
      expect((await as(person)(`POST /channels/${id}/update`, { name: 'x' })).status).toBe(403);
      expect((await as(person)(`DELETE /channels/${id}/delete`)).status).toBe(403);
    }
    expect((await as(cleo)(`POST /channels/${id}/update/members/add`, { user_ids: [cleo.id] })).status).toBe(
      403,
    );
    for (const what of ['update/members/add', 'update/members/remove', 'members/leave']) {
      const answer = await as(ann)(`POST /channels/${id}/${what}`, { user_ids: [cleo.id] });
      expect(answer, what).toMatchObject({ status: 400, body: { detail: expect.stringContaining('same') } });
    }
  });

  it('gives neither member rights over messages of the other', async () => {
    const { id } = (await as(ann)(`GET /channels/users/${ben.id}`)).body;
    const message = (await as(ben)(`POST /channels/${id}/messages/post`, { content: 'mine' })).body;
    const path = `/channels/${id}/messages/${message.id}`;
    expect((await as(ann)(`POST ${path}/update`, { content: 'yours' })).status).toBe(403);
    expect((await as(ann)(`DELETE ${path}/delete`)).status).toBe(403);
  });

  it.each([
    ['no people', {}, 400],
    ['an unknown person', { user_ids: [NOBODY] }, 400],
    ['more people than allowed', { user_ids: Array.from({ length: 60 }, () => NOBODY) }, 400],
    ['an unknown type', { type: 'forum', user_ids: [] }, 400],
  ])('is refused with %s', async (_what, body, status) => {
    expect((await as(ann)('POST /channels/create', { type: 'dm', ...body })).status).toBe(status);
  });

  it('is refused for an unknown person, and without credentials', async () => {
    expect((await as(ann)(`GET /channels/users/${NOBODY}`)).status).toBe(404);
    expect((await as(ann)('GET /channels/users/x')).status).toBe(404);
    expect((await server.call(`GET /channels/users/${ben.id}`)).status).toBe(401);
  });

  it('stays for the other member when one account is deleted, and is deleted with the last', async () => {
    const [eve, finn] = [
      await signUpAs(server, admin, 'Eve', 'user'),
      await signUpAs(server, admin, 'Finn', 'user'),
    ];
    const { id } = (await as(eve)(`GET /channels/users/${finn.id}`)).body;
    await as(admin)(`DELETE /users/${finn.id}`);
    expect((await as(eve)(`GET /channels/${id}`)).body).toMatchObject({ user_ids: [eve.id] });
    await as(admin)(`DELETE /users/${eve.id}`);
    expect((await as(admin)(`GET /channels/${id}`)).status).toBe(404);
  });
});

describe('a direct channel that a member has hidden', () => {
  it('is missing only in the list of that member, and returns with the next message or on request', async () => {
    const { id } = (await as(ann)(`GET /channels/users/${ben.id}`)).body;
    const active = (is_active: boolean) => as(ann)(`POST /channels/${id}/members/active`, { is_active });
    expect(await active(false)).toMatchObject({ status: 200, body: true });
    expect(await listed(ann)).not.toContain(id);
    expect(await listed(ben)).toContain(id);
    expect((await as(ann)(`POST /channels/${id}/read`, {})).status).toBe(200);
    expect(await listed(ann)).not.toContain(id);
    expect((await as(ann)('GET /channels/list')).body).toContainEqual(expect.objectContaining({ id }));

    await as(ben)(`POST /channels/${id}/messages/post`, { content: 'hello?' });
    expect((await as(ann)('GET /channels')).body).toContainEqual(
      expect.objectContaining({ id, unread_count: 1 }),
    );
    await active(false);
    await as(ann)(`GET /channels/users/${ben.id}`);
    expect(await listed(ann)).toContain(id);
    await active(false);
    await active(true);
    expect(await listed(ann)).toContain(id);
  });

  it('can be hidden only by its members', async () => {
    const { id } = (await as(ann)(`GET /channels/users/${ben.id}`)).body;
    for (const person of [admin, cleo]) {
      const answer = await as(person)(`POST /channels/${id}/members/active`, { is_active: false });
      expect(answer.status).toBe(404);
    }
    expect((await as(ann)(`POST /channels/${id}/members/active`, {})).status).toBe(400);
  });
});
