import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { type Person, signUp, signUpAll, startServer } from '../support/server.ts';

let pending: Person;
let group: { id: string };
const channels: Record<string, string> = {};

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');

beforeAll(async () => {
  pending = await signUp(server, 'Pending');
  const form = { name: 'crew', description: '', permissions: { workspace: { tools: true } } };
  group = (await as(root)('POST /groups/create', form)).body;
  await as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [ann.id, pending.id] });
  const make = async (name: string, ...access_grants: object[]) => {
    channels[name] = (await as(root)('POST /channels/create', { name, access_grants })).body.id;
  };
  await make('bare');
  await make('single', grant(ann.id, 'write'));
  await make('everyone', grant('*', 'read'));
  await make('group', grant(group.id, 'read', 'group'));
  await make('own');
  await server.database.query('update channel set user_id = $1 where id = $2', [ann.id, channels.own]);
  const crew = { type: 'group', name: 'crew', user_ids: [ann.id] };
  channels.membership = (await as(root)('POST /channels/create', crew)).body.id;
  await server.database.query(
    `insert into tool (id, user_id, name, content, meta, specs, created_at, updated_at)
     values ('dice', $1, 'dice', '', '{"description": null, "manifest": {}}', '[]', 1, 1)`,
    [root.id],
  );
});

const explain = async (by: Person, query: Record<string, string>) =>
  as(by)(`GET /access/explain?${new URLSearchParams(query)}`);

describe('a permission', () => {
  it.each([
    ['root', 'workspace.tools', true, 'administrator'],
    ['pending', 'workspace.tools', false, 'pending'],
    ['ann', 'workspace.tools', true, 'group'],
    ['ben', 'workspace.tools', false, 'none'],
    ['ben', 'features.notes', true, 'default'],
    ['ben', 'no.such', false, 'none'],
  ])('of %s is explained: %s', async (who, permission, allowed, rule) => {
    const person = { root, ann, ben, pending }[who] as Person;
    const { status, body } = await explain(root, { user_id: person.id, permission });
    expect([status, body.user_id, body.allowed, body.rule]).toEqual([200, person.id, allowed, rule]);
    expect(body.groups).toEqual(rule === 'group' ? [{ id: group.id, name: 'crew' }] : []);
  });
});

describe('access to a resource', () => {
  it.each([
    ['ann', 'bare', 'read', false, 'none'],
    ['root', 'bare', 'write', true, 'administrator'],
    ['ann', 'single', 'read', true, 'grant'],
    ['ann', 'single', 'write', true, 'grant'],
    ['ben', 'everyone', 'read', true, 'everyone'],
    ['ben', 'everyone', 'write', false, 'none'],
    ['ann', 'group', 'read', true, 'group'],
    ['ann', 'group', 'write', false, 'none'],
    ['pending', 'group', 'read', false, 'pending'],
    ['ann', 'own', 'write', true, 'owner'],
    ['ann', 'membership', 'read', true, 'member'],
    ['ben', 'membership', 'read', false, 'none'],
  ])('is explained like the channel answers: %s, %s, %s', async (who, name, right, allowed, rule) => {
    const person = { root, ann, ben, pending }[who] as Person;
    const id = channels[name] ?? '';
    const query = { resource_type: 'channel', resource_id: id, right };
    const { body } = await explain(root, { ...query, user_id: person.id });
    expect([body.allowed, body.rule]).toEqual([allowed, rule]);
    if (rule === 'pending') return;
    expect((await explain(person, query)).body).toEqual(body);
    const request = right === 'read' ? `GET /channels/${id}` : `POST /channels/${id}/messages/post`;
    const { status } = await as(person)(request, right === 'read' ? undefined : { content: 'x' });
    expect(status).toBe(allowed ? 200 : 403);
  });

  it('is explained for tools too, with an id in any case', async () => {
    await as(root)('POST /tools/id/dice/access/update', {
      access_grants: [grant(group.id, 'read', 'group')],
    });
    const { body } = await explain(ann, { resource_type: 'tool', resource_id: 'DICE' });
    expect(body).toMatchObject({
      allowed: true,
      rule: 'group',
      groups: [{ id: group.id, name: 'crew' }],
      grants: [grant(group.id, 'read', 'group')],
    });
    expect((await explain(ben, { resource_type: 'tool', resource_id: 'dice' })).body.rule).toBe('none');
  });

  it.each<[string, object[], string, boolean, string]>([
    ['root', [], 'write', true, 'administrator'],
    ['ann', [], 'read', false, 'none'],
    ['ann', [grant('*', 'read')], 'read', true, 'everyone'],
    ['ann', [grant('*', 'read')], 'write', false, 'none'],
    ['ann', [grant('*', 'write')], 'read', true, 'everyone'],
    ['ben', [grant('self', 'read')], 'read', true, 'grant'],
    ['ben', [grant('self', 'write'), grant('*', 'read')], 'read', true, 'grant'],
    ['ben', [grant('crew', 'write', 'group')], 'write', false, 'none'],
    ['ann', [grant('crew', 'write', 'group'), grant('*', 'read')], 'write', true, 'group'],
    ['owner', [], 'write', true, 'owner'],
    ['pending', [grant('*', 'write')], 'read', false, 'pending'],
  ])('is explained for %s and a tool with the grants %j: %s', async (who, grants, right, allowed, rule) => {
    const person = { root, ann, ben, pending, owner: ben }[who] as Person;
    const ids: Record<string, string> = { self: person.id, crew: group.id };
    const named = (grants as { principal_id: string }[]).map((one) => ({
      ...one,
      principal_id: ids[one.principal_id] ?? one.principal_id,
    }));
    const ownerId = who === 'owner' ? person.id : root.id;
    await server.database.query(`update tool set user_id = $1 where id = 'dice'`, [ownerId]);
    expect((await as(root)('POST /tools/id/dice/access/update', { access_grants: named })).status).toBe(200);
    const { body } = await explain(root, {
      user_id: person.id,
      resource_type: 'tool',
      resource_id: 'dice',
      right,
    });
    expect([body.allowed, body.rule]).toEqual([allowed, rule]);
    // The tool itself answers the same; its earlier versions require write access.
    const request = right === 'read' ? 'GET /tools/id/dice' : 'GET /tools/id/dice/versions';
    expect((await as(person)(request)).status).toBe(allowed ? 200 : 401);
  });

  it('is barred when channels.enable is off, for administrators too', async () => {
    const { body: configuration } = await as(root)('GET /configs/export');
    const switched = (enable: boolean) =>
      as(root)('POST /configs/import', { ...configuration, channels: { enable } });
    await switched(false);
    for (const id of [channels.own, channels.membership]) {
      const query = { resource_type: 'channel', resource_id: id ?? '' };
      expect((await explain(ann, query)).body).toMatchObject({ allowed: false, rule: 'barred' });
      expect((await explain(root, query)).body).toMatchObject({ allowed: false, rule: 'barred' });
      expect((await as(ann)(`GET /channels/${id}`)).status).toBe(403);
    }
    await switched(true);
  });

  it('is barred without the permission for channels', async () => {
    const { body: tree } = await as(root)('GET /users/default/permissions');
    tree.features.channels = false;
    await as(root)('POST /users/default/permissions', tree);
    const query = { resource_type: 'channel', resource_id: channels.single ?? '' };
    expect((await explain(ann, query)).body).toMatchObject({ allowed: false, rule: 'barred' });
    tree.features.channels = true;
    await as(root)('POST /users/default/permissions', tree);
  });
});

it('only the user and administrators may ask for an explanation', async () => {
  expect((await explain(ann, { user_id: ben.id, permission: 'chat.edit' })).status).toBe(403);
  expect((await server.call('GET /access/explain?permission=chat.edit')).status).toBe(401);
  expect((await explain(pending, { permission: 'chat.edit' })).status).toBe(401);
});

it.each([
  [{}, 400],
  [{ permission: 'tools' }, 400],
  [{ permission: 'chat.edit', resource_type: 'tool', resource_id: 'x' }, 400],
  [{ resource_type: 'tool' }, 400],
  [{ resource_type: 'file', resource_id: 'x' }, 400],
  [{ resource_type: 'tool', resource_id: 'x', right: 'manage' }, 400],
  [{ user_id: 'x', permission: 'chat.edit' }, 400],
  [{ resource_type: 'tool', resource_id: 'no_such' }, 404],
  [{ resource_type: 'channel', resource_id: 'no uuid' }, 404],
  [{ user_id: '00000000-0000-4000-8000-000000000000', permission: 'chat.edit' }, 404],
])('refuses %j with %i', async (query, status) => {
  expect((await explain(root, query as Record<string, string>)).status).toBe(status);
});
