import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type Person, signUpAll, startServer } from '../support/server.ts';

let groupId: string;

const NOBODY = '018f0000-0000-7000-8000-000000000000';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [admin, ann, ben, cleo, dan] = await signUpAll(server, 'Admin', 'Ann', 'Ben', 'Cleo', 'Dan');
beforeEach(async () => {
  groupId = (await makeGroup(ann, [ben.id])).body.id;
});

const makeGroup = (person: Person, user_ids: string[]) =>
  as(person)('POST /channels/create', { type: 'group', name: 'group', user_ids });
const change = (person: Person, what: string, body: object = {}) =>
  as(person)(`POST /channels/${groupId}/${what}`, body);
const rolesIn = async (id: string) => {
  const rows = await server.database.query<{ user_id: string; role: string | null }>(
    'select user_id, role from channel_member where channel_id = $1',
    [id],
  );
  return Object.fromEntries(rows.map(({ user_id, role }) => [user_id, role]));
};

describe('a group channel', () => {
  it('has the named members, and its creator as manager', async () => {
    const { body } = await as(ben)(`GET /channels/${groupId}`);
    expect(body).toMatchObject({
      type: 'group',
      user_id: ann.id,
      is_manager: false,
      write_access: true,
      user_count: 2,
      user_ids: [ann.id, ben.id],
      users: [
        { id: ann.id, name: 'Ann', is_active: true },
        { id: ben.id, name: 'Ben', is_active: true },
      ],
    });
    expect((await as(ann)(`GET /channels/${groupId}`)).body.is_manager).toBe(true);
    expect(await rolesIn(groupId)).toEqual({ [ann.id]: 'manager', [ben.id]: null });
  });

  it('is read and written only by its members, despite grants and for administrators too', async () => {
    const access_grants = [{ principal_type: 'user', principal_id: '*', permission: 'write' }];
    expect((await change(ann, 'update', { access_grants })).body.access_grants).toEqual([]);
    for (const person of [admin, cleo]) {
      for (const request of ['', '/members', '/presence', '/messages']) {
        expect((await as(person)(`GET /channels/${groupId}${request}`)).status, request).toBe(403);
      }
      for (const what of ['messages/post', 'typing', 'read', 'members/leave']) {
        expect((await change(person, what, { content: 'x' })).status, what).toBe(403);
      }
      expect((await change(person, 'members/active', { is_active: false })).status).toBe(404);
      const listed = (await as(person)('GET /channels')).body.map(({ id }: { id: string }) => id);
      expect(listed).not.toContain(groupId);
    }
    expect((await as(ben)('GET /channels')).body).toContainEqual(expect.objectContaining({ id: groupId }));
  });

  it('shows an administrator who changes it the new state, but not the members', async () => {
    expect(await change(admin, 'update', { name: 'tidied up' })).toMatchObject({
      status: 200,
      body: {
        id: groupId,
        name: 'tidied up',
        is_manager: true,
        write_access: false,
        user_count: 2,
        users: null,
        user_ids: null,
      },
    });
    expect((await as(ben)(`GET /channels/${groupId}`)).body.name).toBe('tidied up');
  });

  it.each([
    ['an unknown person', { user_ids: [NOBODY] }, NOBODY],
    ['an unknown user group', { group_ids: [NOBODY] }, NOBODY],
    ['a malformed id', { user_ids: ['x'] }, 'user_ids'],
    ['a text in place of a list', { user_ids: 'x' }, 'user_ids'],
    ['1001 people', { user_ids: Array.from({ length: 1001 }, () => NOBODY) }, 'user_ids'],
  ])('is refused with %s, and no members are added', async (_what, body, named) => {
    for (const answer of [
      await as(ann)('POST /channels/create', { type: 'group', name: 'x', ...body }),
      await change(ann, 'update/members/add', body),
    ]) {
      expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining(named) } });
    }
    expect(Object.keys(await rolesIn(groupId))).toHaveLength(2);
  });

  it('has at most 1000 members, added in any way', async () => {
    await server.database.query(
      `insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
       select gen_random_uuid(), 'crowd-' || n || '@example.com', 'Crowd ' || n, 'user', '', 0, 0, 0 from generate_series(1, 1001) n`,
    );
    const crowd = await server.database.query<{ id: string }>(
      "select id from users where email like 'crowd-%'",
    );
    const ids = crowd.map(({ id }) => id);
    expect((await change(ann, 'update/members/add', { user_ids: ids.slice(0, 998) })).body).toHaveLength(998);
    expect(await change(ann, 'update/members/add', { user_ids: ids.slice(998) })).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('1000') },
    });
    expect((await as(ann)(`GET /channels/${groupId}/members?page=34`)).body).toMatchObject({ total: 1000 });
    const { body: everyone } = await as(admin)('POST /groups/create', { name: 'Everyone', description: '' });
    await as(admin)(`POST /groups/id/${everyone.id}/users/add`, { user_ids: ids.slice(0, 1000) });
    const before = (await as(admin)('GET /channels/list')).body.length;
    expect(
      await as(admin)('POST /channels/create', { type: 'group', name: 'x', group_ids: [everyone.id] }),
    ).toMatchObject({ status: 400, body: { detail: expect.stringContaining('1000') } });
    expect((await as(admin)('GET /channels/list')).body).toHaveLength(before);
    await as(admin)(`DELETE /groups/id/${everyone.id}/delete`);
    expect((await as(ann)(`DELETE /channels/${groupId}/delete`)).status).toBe(200);
  });
});

describe('members', () => {
  it('are added by managers and administrators, once', async () => {
    for (const person of [ben, cleo]) {
      expect((await change(person, 'update/members/add', { user_ids: [dan.id] })).status).toBe(403);
    }
    const answers = await Promise.all(
      [ann, admin, ann].map((person) => change(person, 'update/members/add', { user_ids: [dan.id, ben.id] })),
    );
    const added = answers.flatMap(({ body }) => body);
    expect(added).toEqual([
      {
        id: `${groupId}:${dan.id}`,
        status: 'joined',
        channel_id: groupId,
        user_id: dan.id,
        role: null,
        invited_by: expect.any(String),
        joined_at: expect.any(Number),
      },
    ]);
    expect((await as(dan)(`GET /channels/${groupId}`)).status).toBe(200);
  });

  it('are removed by managers, and lose access at once', async () => {
    expect((await change(ben, 'update/members/remove', { user_ids: [ann.id] })).status).toBe(403);
    const { body } = await change(ann, 'update/members/remove', { user_ids: [ben.id, ben.id, cleo.id] });
    expect(body).toBe(1);
    expect((await as(ben)(`GET /channels/${groupId}`)).status).toBe(403);
    expect((await change(ben, 'messages/post', { content: 'x' })).status).toBe(403);
    expect((await as(ben)('GET /channels')).body).not.toContainEqual(
      expect.objectContaining({ id: groupId }),
    );
  });

  it('may become managers and ordinary members again', async () => {
    const role = (person: Person, user_id: string, role: string) =>
      change(person, 'members/role', { user_id, role });
    expect((await role(ben, ben.id, 'manager')).status).toBe(403);
    expect((await role(ann, cleo.id, 'manager')).status).toBe(404);
    expect((await role(ann, ben.id, 'owner')).status).toBe(400);
    expect(await role(ann, ben.id, 'manager')).toMatchObject({ status: 200, body: { role: 'manager' } });
    expect((await role(ben, ann.id, 'member')).status).toBe(200);
    expect(await rolesIn(groupId)).toEqual({ [ann.id]: null, [ben.id]: 'manager' });
    // The role of the last manager passes to another member.
    expect((await role(ben, ben.id, 'member')).status).toBe(200);
    expect(await rolesIn(groupId)).toEqual({ [ann.id]: 'manager', [ben.id]: null });
  });

  it('who leave pass on the role of manager, and the last one deletes the channel', async () => {
    expect((await change(ann, 'members/leave')).status).toBe(200);
    expect(await rolesIn(groupId)).toEqual({ [ben.id]: 'manager' });
    expect((await change(ann, 'members/leave')).status).toBe(403);
    const alone = await change(ben, 'members/role', { user_id: ben.id, role: 'member' });
    expect(alone).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('at least one manager') },
    });
    expect((await change(ben, 'members/leave')).status).toBe(200);
    expect((await as(admin)(`GET /channels/${groupId}`)).status).toBe(404);
  });

  it('and their changes are in the log, without gaps', async () => {
    await change(ann, 'update/members/add', { user_ids: [cleo.id, ben.id] });
    await change(ann, 'update/members/add', { user_ids: [cleo.id] });
    await change(ann, 'update', { description: 'new' });
    await change(ann, 'members/role', { user_id: ben.id, role: 'manager' });
    await change(ann, 'members/role', { user_id: ben.id, role: 'manager' });
    await change(ann, 'update/members/remove', { user_ids: [cleo.id] });
    await change(ann, 'update/members/remove', { user_ids: [cleo.id] });
    const log = await server.database.query(
      'select id::int, type, data, actor from channel_event where channel_id = $1 order by id',
      [groupId],
    );
    const actor = { id: ann.id, name: 'Ann', role: 'user' };
    expect(log).toEqual([
      { id: 1, type: 'channel:created', data: {}, actor },
      { id: 2, type: 'channel:member:add', data: { user_ids: [cleo.id] }, actor },
      { id: 3, type: 'channel:updated', data: {}, actor },
      { id: 4, type: 'channel:updated', data: {}, actor },
      { id: 5, type: 'channel:member:remove', data: { user_ids: [cleo.id] }, actor },
    ]);
  });
});

describe('the list of members', () => {
  const list = async (person: Person, query = '') =>
    (await as(person)(`GET /channels/${groupId}/members${query}`)).body;

  it('shows what members may know of each other', async () => {
    const { users, total } = await list(ben);
    expect(users[1]).toMatchObject({ id: ben.id, email: 'ben@example.com' });
    expect(total).toBe(2);
    expect(users[0]).toEqual({
      id: ann.id,
      name: 'Ann',
      username: null,
      role: 'user',
      profile_image_url: `/api/v1/users/${ann.id}/profile/image`,
      is_active: true,
      email: '',
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
      last_active_at: expect.any(Number),
      channel_role: 'manager',
      joined_at: expect.any(Number),
    });
  });

  it('is searched by words, not by patterns, and sorted', async () => {
    await change(ann, 'update/members/add', { user_ids: [cleo.id, dan.id] });
    const names = async (query: string) =>
      (await list(ben, query)).users.map(({ name }: { name: string }) => name);
    expect(await names('?query=AN')).toEqual(['Ann', 'Dan']);
    expect(await names('?query=%25')).toEqual([]);
    expect(await names('?query=_')).toEqual([]);
    expect(await names('?query=example.com')).toEqual([]);
    expect(await names('?order_by=name&direction=desc')).toEqual(['Dan', 'Cleo', 'Ben', 'Ann']);
    expect(await names('?order_by=created_at')).toEqual(['Ann', 'Ben', 'Cleo', 'Dan']);
    expect(await names('?page=2')).toEqual([]);
    for (const query of [
      'order_by=password_hash',
      'order_by=group_id:',
      'direction=up',
      'page=0',
      'page=x',
    ]) {
      expect((await as(ben)(`GET /channels/${groupId}/members?${query}`)).status, query).toBe(400);
    }
  });

  it('is sorted by hidden members of accounts only for administrators', async () => {
    const { id: gid } = (await as(admin)('POST /groups/create', { name: 'Staff', description: '' })).body;
    await as(admin)(`POST /groups/id/${gid}/users/add`, { user_ids: [cleo.id, ann.id] });
    await server.database.query('update users set updated_at = updated_at + 100 where id = $1', [cleo.id]);
    await as(admin)(`POST /users/${ben.id}/update`, { email: 'zoe@example.com' });
    const access_grants = [ann, ben, cleo].map(({ id }) => ({
      ...{ principal_type: 'user', principal_id: id, permission: 'read' },
    }));
    const { body: made } = await as(admin)('POST /channels/create', { name: 'standard', access_grants });
    const list = (person: Person, query: string) => as(person)(`GET /channels/${made.id}/members?${query}`);
    const names = async (person: Person, query: string) =>
      (await list(person, query)).body.users.map(({ name }: { name: string }) => name);
    expect(await names(admin, 'order_by=email&direction=desc')).toEqual(['Ben', 'Cleo', 'Ann', 'Admin']);
    const inGroup = `order_by=group_id:${gid}&direction=desc`;
    expect(await names(admin, inGroup)).toEqual(['Ann', 'Cleo', 'Admin', 'Ben']);
    expect(await names(admin, 'order_by=group_id:none')).toEqual(['Admin', 'Ann', 'Ben', 'Cleo']);
    expect((await names(ann, 'order_by=updated_at&direction=desc'))[0]).toBe('Cleo');
    for (const query of ['order_by=email', inGroup]) {
      expect(await list(ann, query), query).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    const { body } = await list(ann, 'order_by=height');
    expect(body.detail).toMatch(/order_by: must be name, role, .* or group_id: and the id of a group/);
  });

  it('of a standard channel has its readers', async () => {
    const access_grants = [{ principal_type: 'user', principal_id: cleo.id, permission: 'read' }];
    const create = { name: 'standard', access_grants };
    const { id, user_count } = (await as(admin)('POST /channels/create', create)).body;
    expect(user_count).toBe(2);
    const { body } = await as(cleo)(`GET /channels/${id}/members`);
    expect(body.users).toMatchObject([
      { id: admin.id, channel_role: null, joined_at: null },
      { id: cleo.id, channel_role: null, joined_at: null },
    ]);
    expect((await as(ben)(`GET /channels/${id}/members`)).status).toBe(403);
    for (const what of ['update/members/add', 'update/members/remove', 'members/leave']) {
      const answer = await as(admin)(`POST /channels/${id}/${what}`, { user_ids: [ben.id] });
      expect(answer, what).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('grants') },
      });
    }
    expect((await as(ben)(`GET /channels/${NOBODY}/members`)).status).toBe(404);
  });
});
