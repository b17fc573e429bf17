import { afterAll, describe, expect, it } from 'vitest';
import { type Person, signUp, signUpAll, signUpAs, startServer } from '../support/server.ts';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');

const NOWHERE = '00000000-0000-4000-8000-000000000000';
let made = 0;

const make = async (form: object = {}) =>
  (await as(root)('POST /groups/create', { name: `group ${++made}`, description: 'd', ...form })).body;
const add = (group: { id: string }, ...user_ids: string[]) =>
  as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids });
const namesSeenBy = async (person: Person, query = '') =>
  (await as(person)(`GET /groups${query}`)).body.map(({ name }: { name: string }) => name);

describe('a group', () => {
  it('is created with the sent members, and without people', async () => {
    const form = {
      name: '  Makers ',
      description: '',
      permissions: { workspace: { tools: true } },
      data: { x: 1 },
    };
    const { status, body } = await as(root)('POST /groups/create', form);
    expect([status, body]).toEqual([
      200,
      {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        user_id: root.id,
        name: 'Makers',
        description: '',
        permissions: { workspace: { tools: true } },
        parent_group_id: null,
        data: { x: 1, config: { share: 'members' } },
        meta: null,
        member_count: 0,
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      },
    ]);
    expect((await as(root)(`GET /groups/id/${body.id}`)).body).toEqual(body);
  });

  it.each([
    [{}, 'name'],
    [{ name: ' ', description: '' }, 'name'],
    [{ name: 'n\0', description: '' }, 'name'],
    [{ name: 'n'.repeat(257), description: '' }, 'name'],
    [{ name: 'n' }, 'description'],
    [
      { name: 'n', description: '', permissions: { workspace: { tools: 'yes' } } },
      'permissions.workspace.tools',
    ],
    [{ name: 'n', description: '', permissions: [] }, 'permissions'],
    [{ name: 'n', description: '', data: { config: { share: 'all' } } }, 'data'],
    [{ name: 'n', description: '', data: { x: 'x'.repeat(300_000) } }, 'data'],
  ])('is not created with %j', async (form, path) => {
    const { status, body } = await as(root)('POST /groups/create', form);
    expect([status, body.issues?.[0].path]).toEqual([400, path]);
  });

  it('has a unique name, also for concurrent creations', async () => {
    const form = { name: 'only one', description: '' };
    const answers = await Promise.all([1, 2, 3].map(() => as(root)('POST /groups/create', form)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
    const other = await make();
    const renamed = await as(root)(`POST /groups/id/${other.id}/update`, { name: 'only one' });
    expect([renamed.status, renamed.body.code]).toEqual([400, 'name_taken']);
  });

  it('changes the sent members only', async () => {
    const group = await make({ data: { config: { share: true } }, permissions: { chat: { edit: false } } });
    const changes = { name: `${group.name} changed`, description: null, permissions: null };
    const { body } = await as(root)(`POST /groups/id/${group.id}/update`, changes);
    expect(body).toEqual({ ...group, name: changes.name, updated_at: body.updated_at });
    const id = { id: NOWHERE, user_id: ann.id, created_at: 1, member_count: 9 };
    expect((await as(root)(`POST /groups/id/${group.id}/update`, id)).body).toMatchObject({
      id: group.id,
      user_id: root.id,
      created_at: group.created_at,
      member_count: 0,
    });
  });

  it('is deleted, and then not found', async () => {
    const group = await make();
    await add(group, ann.id);
    expect((await as(root)(`DELETE /groups/id/${group.id}/delete`)).body).toBe(true);
    for (const request of [
      `GET /groups/id/${group.id}`,
      `GET /groups/id/${group.id}/info`,
      `GET /groups/id/${group.id}/export`,
      `DELETE /groups/id/${group.id}/delete`,
    ]) {
      expect((await as(root)(request)).body.code).toBe('not_found');
    }
    for (const request of ['update', 'users/add', 'users/remove']) {
      const { body } = await as(root)(`POST /groups/id/${group.id}/${request}`, {});
      expect(body.code).toBe('not_found');
    }
  });

  it('is managed by administrators', async () => {
    const group = await make();
    await add(group, ann.id);
    for (const request of [
      'POST /groups/create',
      `GET /groups/id/${group.id}`,
      `GET /groups/id/${group.id}/export`,
      `POST /groups/id/${group.id}/update`,
      `POST /groups/id/${group.id}/users/add`,
      `POST /groups/id/${group.id}/users/remove`,
      `DELETE /groups/id/${group.id}/delete`,
      `GET /users/${ann.id}/groups`,
    ]) {
      const body = request.startsWith('POST') ? { user_ids: [ann.id] } : undefined;
      expect((await as(ann)(request, body)).status).toBe(403);
      expect((await server.call(request, { body })).status).toBe(401);
    }
  });
});

describe('members', () => {
  it('are added once, also by concurrent requests; no one of a list is left out', async () => {
    const group = await make();
    const answers = await Promise.all([1, 2, 3].map(() => add(group, ann.id, ben.id, ben.id, NOWHERE)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await as(root)(`GET /groups/id/${group.id}/export`);
    expect(body.member_count).toBe(2);
    expect(body.user_ids.toSorted()).toEqual([ann.id, ben.id].toSorted());
    expect(body.members).toContainEqual({ user_id: ann.id, sources: ['manual'] });
    const people = (await as(root)(`POST /groups/id/${group.id}/users`)).body;
    expect(people).toMatchObject([
      { id: ann.id, name: 'Ann', email: ann.email },
      { id: ben.id, name: 'Ben' },
    ]);
    expect((await as(root)(`POST /groups/id/${NOWHERE}/users`)).status).toBe(404);
    expect((await as(ann)(`POST /groups/id/${group.id}/users`)).status).toBe(403);
    const removed = await as(root)(`POST /groups/id/${group.id}/users/remove`, {
      user_ids: [ann.id, NOWHERE],
    });
    expect(removed.body.member_count).toBe(1);
    expect((await add(group, 'no id')).body.issues[0].path).toBe('user_ids.0');
    expect((await as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: null })).status).toBe(200);
  });

  it('and a concurrent deletion leave no trace', async () => {
    const group = await make();
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => add(group, ann.id)),
      as(root)(`DELETE /groups/id/${group.id}/delete`),
    ]);
    for (const { status } of answers) expect([200, 404]).toContain(status);
    const left = await server.database.query('select from group_member where group_id = $1', [group.id]);
    expect(left).toEqual([]);
  });

  it('are removed with their account', async () => {
    const group = await make();
    const gone = await signUpAs(server, root, 'Gone', 'user');
    await add(group, gone.id, ann.id);
    await as(root)(`DELETE /users/${gone.id}`);
    expect((await as(root)(`GET /groups/id/${group.id}/export`)).body.user_ids).toEqual([ann.id]);
  });
});

describe('people see', () => {
  it('their own groups, and other groups that they may grant access to', async () => {
    const share = (rule: unknown) => ({ data: { config: { share: rule } } });
    const own = await make({ name: 'own', ...share(false) });
    const members = await make({ name: 'members', ...share('members') });
    await make({ name: 'unsaid' });
    const open = await make({ name: 'open', ...share(true) });
    const closed = await make({ name: 'closed', ...share(false) });
    const cid = await signUpAs(server, root, 'Cid', 'user');
    await add(own, cid.id);
    await add(members, cid.id);
    expect((await namesSeenBy(cid)).toSorted()).toEqual(['members', 'own']);
    expect(await namesSeenBy(cid, '?share=true')).toEqual(expect.arrayContaining(['members', 'open']));
    expect(await namesSeenBy(cid, '?share=true')).not.toContain('unsaid');
    expect(await namesSeenBy(cid, '?share=false')).toEqual(['own']);
    expect(await namesSeenBy(root)).toEqual(
      expect.arrayContaining(['own', 'members', 'unsaid', 'open', 'closed']),
    );
    const mine = (await as(cid)('GET /users/groups')).body.map(({ name }: { name: string }) => name);
    expect(mine.toSorted()).toEqual(['members', 'own']);
    expect((await as(root)(`GET /users/${cid.id}/groups`)).body).toHaveLength(2);
    expect((await as(cid)(`GET /groups/id/${own.id}/info`)).body).toEqual({
      id: own.id,
      parent_group_id: null,
      user_id: root.id,
      name: 'own',
      description: 'd',
      member_count: 1,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect((await as(cid)(`GET /groups/id/${open.id}/info`)).status).toBe(200);
    expect((await as(cid)(`GET /groups/id/${closed.id}/info`)).status).toBe(404);
    expect((await as(cid)(`GET /groups/id/${NOWHERE}/info`)).status).toBe(404);
  });
});

it('ui.default_group_id: new accounts join this group, if it exists', async () => {
  const group = await make();
  const { body: config } = await as(root)('GET /configs/export?secrets=true');
  for (const [id, size] of [
    [group.id.toUpperCase(), 1],
    [NOWHERE, 0],
    ['', 0],
  ]) {
    config.ui.default_group_id = id;
    expect((await as(root)('POST /configs/import', config)).status).toBe(200);
    const person = await signUp(server, `New${++made}`);
    expect((await as(root)(`GET /users/${person.id}/groups`)).body).toHaveLength(Number(size));
  }
});

it('changes of groups are in the audit log', async () => {
  const group = await make();
  await add(group, ann.id);
  await as(root)(`POST /groups/id/${group.id}/update`, { description: 'other' });
  await as(root)(`POST /groups/id/${group.id}/users/remove`, { user_ids: [ann.id] });
  await as(root)(`DELETE /groups/id/${group.id}/delete`);
  const { body } = await as(root)(`GET /audit?target=group:${group.id}`);
  expect(body.entries.map(({ action }: { action: string }) => action)).toEqual([
    'group.delete',
    'group.remove',
    'group.update',
    'group.add',
    'group.create',
  ]);
  expect(body.entries[2]).toMatchObject({ before: { description: 'd' }, after: { description: 'other' } });
});
