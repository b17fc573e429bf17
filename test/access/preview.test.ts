import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { grant } from '../support/channels.ts';
import { NOWHERE } from '../support/doors.ts';
import { signIn, signUp, signUpAll, startServer } from '../support/server.ts';

/** Calls of the clients of Open WebUI about people and groups. */
const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');
const pending = await signUp(server, 'Waiting');

const tool = async (id: string, owner: string, access_grants: object[]) => {
  await server.database.query(
    `insert into tool (id, user_id, name, content, meta, specs, created_at, updated_at)
     values ($1, $2, $1, '', '{"description": null, "manifest": {}}', '[]', 1, 1)`,
    [id, owner],
  );
  await as(root)(`POST /tools/id/${id}/access/update`, { access_grants });
};
const permissions = { workspace: { tools: true }, chat: { edit: false } };
const { body: group } = await as(root)('POST /groups/create', {
  name: 'makers',
  description: '',
  permissions,
});
await as(root)(`POST /groups/id/${group.id}/users/add`, { user_ids: [ann.id] });
await tool('own', ann.id, []);
await tool('by_group', root.id, [grant(group.id, 'read', 'group')]);
await tool('for_all', root.id, [grant('*', 'read')]);
await tool('hidden', root.id, []);

const named = (...ids: string[]) => ids.map((id) => ({ id, name: id }));
const none = { items: [], total: 0 };

describe('a preview', () => {
  it('of an account lists its groups and the tools that it may read', async () => {
    const { body } = await as(root)(`GET /users/${ann.id}/preview`);
    expect(body).toEqual({
      user: { id: ann.id, name: 'Ann' },
      groups: [{ id: group.id, name: 'makers' }],
      models: none,
      knowledge: none,
      tools: { items: named('by_group', 'for_all', 'own'), total: 4 },
    });
    const tools = async (id: string) => (await as(root)(`GET /users/${id}/preview`)).body.tools.items;
    expect(await tools(ben.id)).toEqual(named('for_all'));
    expect(await tools(root.id)).toHaveLength(4);
  });

  it('of a group lists the tools and the permissions of its members', async () => {
    const { body } = await as(root)(`GET /groups/id/${group.id}/preview`);
    expect(body).toMatchObject({
      group: { id: group.id, name: 'makers' },
      tools: { items: named('by_group', 'for_all'), total: 4 },
      permissions,
      inherited_permissions: { workspace: { tools: false }, chat: { edit: true } },
      effective_permissions: { workspace: { tools: true }, chat: { edit: true } },
    });
  });

  it('requires an administrator, and an existing account or group', async () => {
    for (const path of [`/users/${ann.id}/preview`, `/groups/id/${group.id}/preview`]) {
      expect((await server.call(`GET ${path}`)).status).toBe(401);
      expect((await as(ann)(`GET ${path}`)).status).toBe(403);
      const nowhere = path.replace(ann.id, NOWHERE).replace(group.id, NOWHERE);
      expect((await as(root)(`GET ${nowhere}`)).status).toBe(404);
    }
  });
});

it('the list of group members shows the kind of membership', async () => {
  const list = async (query = '') => (await as(root)(`GET /groups/id/${group.id}/members${query}`)).body;
  const counts = { direct: 1, effective: 1, inherited: 0 };
  const member = { id: ann.id, email: 'ann@example.com', membership_type: 'direct', via_group_ids: [] };
  expect(await list()).toMatchObject({ items: [member], total: 1, counts });
  expect(await list('?query=ANN@')).toMatchObject({ items: [member], total: 1 });
  for (const query of ['?query=ben', '?page=2', '?membership=inherited']) {
    expect(await list(query)).toMatchObject({ items: [], counts });
  }
  expect((await as(ann)(`GET /groups/id/${group.id}/members`)).status).toBe(403);
  expect((await as(root)(`GET /groups/id/${NOWHERE}/members`)).status).toBe(404);
});

it('administrators may read the permissions of a new installation', async () => {
  const PATH = 'GET /users/default/permissions/defaults';
  expect((await as(root)(PATH)).body).toEqual(DEFAULT_CONFIGURATION.user.permissions);
  expect((await as(ann)(PATH)).status).toBe(403);
});

it('an administrator may end all sessions of an account', async () => {
  const other = await signIn(server, ben);
  expect((await as(ann)(`POST /users/${ben.id}/sessions/revoke`)).status).toBe(403);
  expect((await as(root)(`POST /users/${NOWHERE}/sessions/revoke`)).status).toBe(404);
  expect((await as(other)('GET /auths')).status).toBe(200);
  expect((await as(root)(`POST /users/${ben.id}/sessions/revoke`)).body).toBe(true);
  for (const { token } of [ben, other]) expect((await server.call('GET /auths', { token })).status).toBe(401);
});

it('accounts have no second factor', async () => {
  const { status, body } = await as(pending)('GET /auths/mfa/status');
  expect([status, body]).toEqual([200, { enabled: false, required: false, recovery_codes_remaining: 0 }]);
  expect((await server.call('GET /auths/mfa/status')).status).toBe(401);
});

describe('prompt variables', () => {
  const READ = 'GET /users/user/variables';
  const update = (body: unknown) => as(ann)('POST /users/user/variables/update', body);

  it('belong to their user, and are replaced together', async () => {
    expect((await as(ann)(READ)).body).toEqual({ variables: {} });
    const variables = { 'team.name': 'Blue', tone: '' };
    expect((await update({ variables })).body).toEqual({ variables });
    expect((await as(ann)(READ)).body).toEqual({ variables });
    expect((await as(root)(READ)).body).toEqual({ variables: {} });
    expect((await update({})).body).toEqual({ variables: {} });
    expect((await server.call(READ)).status).toBe(401);
    expect((await as(pending)(READ)).status).toBe(401);
  });

  it.each([
    [{ variables: { 'a b': 'x' } }],
    [{ variables: { a: 1 } }],
    [{ variables: { a: 'x'.repeat(20_001) } }],
    [{ variables: Object.fromEntries(Array.from('abcdef', (name) => [name, 'x'.repeat(20_000)])) }],
    [{ variables: [] }],
  ])('refuse %j', async (body) => {
    expect((await update(body)).status).toBe(400);
  });
});

it('lists no functions for the editor of models, which otherwise stays at "Loading"', async () => {
  const { status, body } = await as(root)('GET /functions/');
  expect([status, body]).toEqual([200, []]);
  expect((await as(pending)('GET /functions/')).status).toBe(401);
  expect((await server.call('GET /functions/')).status).toBe(401);
});
