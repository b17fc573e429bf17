import { afterAll, beforeAll, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { NOWHERE } from '../support/doors.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

/**
 * Lists that check grants, with 10,000 people, 500 groups, 2,000 tools and 500 models: they run as few statements as with
 * little data.
 */
let channel: string;
let group: string;

const TOOLS = 2_000;
const CHANNELS = 200;
const MODELS = 500;

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann] = await signUpAll(server, 'Root', 'Ann');

beforeAll(async () => {
  const { query } = server.database;
  await query(`insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
    select gen_random_uuid(), i || '@people.org', 'Person ' || i, 'user', '', 0, 0, 0 from generate_series(1, 10000) i`);
  await query(`insert into user_group (id, user_id, name, description, created_at, updated_at)
    select gen_random_uuid()::text, gen_random_uuid(), 'group ' || i, '', 1, 1 from generate_series(1, 500) i`);
  // Every user is in some groups, Ann in every tenth.
  await query(`insert into group_member (group_id, user_id, source, created_at)
    select g.id, u.id, 'manual', 1 from (select id, row_number() over (order by name) as n from user_group) g
      join users u on u.ordinal % 100 = g.n % 100 or (u.email = 'ann@example.com' and g.n % 10 = 0)`);
  await query(
    `insert into tool (id, user_id, name, content, meta, specs, created_at, updated_at)
     select 'tool_' || i, $1, 'tool', '', '{"description": null, "manifest": {}}', '[]', 1, 1 from generate_series(1, ${TOOLS}) i`,
    [root.id],
  );
  await query(
    `insert into model (id, user_id, base_model_id, name, params, meta, created_at, updated_at)
     select 'model_' || i, $1, 'model_' || (i - 1), 'model', '{}', '{}', 1, 1 from generate_series(1, ${MODELS}) i`,
    [ann.id],
  );
  await query(`insert into model_version (id, model_id, version, user_id, snapshot, created_at)
    select gen_random_uuid(), id, 1, user_id, '{"name": "model", "base_model_id": null, "params": {}, "meta": {}}', 1 from model`);
  await query(
    `insert into channel (id, user_id, name, created_at, updated_at)
     select gen_random_uuid(), $1, 'channel ' || i, 1, 1 from generate_series(1, ${CHANNELS}) i`,
    [root.id],
  );
  const grant = (type: string, table: string) =>
    query(`insert into access_grant (id, resource_type, resource_id, principal_type, principal_id, permission, created_at)
      select gen_random_uuid(), '${type}', r.id, 'group', g.id, 'read', 1
        from (select id::text, row_number() over (order by name, id) as n from ${table}) r
        join (select id, row_number() over (order by name) as n from user_group) g on g.n % 500 = r.n % 500`);
  await grant('tool', 'tool');
  await grant('model', 'model');
  await grant('channel', 'channel');
  await query('analyze');
  channel = (await as(ann)('GET /channels')).body[0].id;
  group = (await as(ann)('GET /groups')).body[0].id;
});

const requests = () => [
  ['GET /tools', TOOLS],
  ['GET /tools/list', TOOLS],
  ['GET /channels', CHANNELS],
  ['GET /channels/list', CHANNELS],
  ['GET /groups', 500],
];

it.each(requests())('%s runs one statement, for members and administrators', async (request, all) => {
  for (const person of [ann, root]) {
    await server.call(String(request), { token: person.token });
    let found: unknown[] = [];
    const statements = await recordStatements(async () => {
      found = (await server.call(String(request), { token: person.token })).body;
    });
    expect(statements).toHaveLength(1);
    if (person === ann) expect(found.length).toBeGreaterThan(10);
    if (person === ann) expect(found.length).toBeLessThan(Number(all) / 5);
  }
});

it.each([
  ['GET /users', 2],
  ['GET /users?order_by=name&page=300', 2],
  ['GET /users/search?query=Person%2012', 2],
  ['GET /users/groups', 1],
  ['GET /users/permissions', 0],
])('%s runs %i statements', async (request, count) => {
  await server.call('GET /users/permissions', { token: root.token });
  const statements = await recordStatements(() => server.call(request, { token: root.token }));
  expect(statements).toHaveLength(count);
});

it('a channel with hundreds of readers through a group runs one statement for each read', async () => {
  for (const [request, size] of [
    [`GET /channels/${channel}`, 1],
    [`GET /channels/${channel}/members`, 1],
    [`GET /tools/id/tool_1`, 1],
  ] as const) {
    const statements = await recordStatements(() => server.call(request, { token: ann.token }));
    expect(statements).toHaveLength(size);
  }
  const { body } = await server.call(`GET /channels/${channel}/members`, { token: ann.token });
  expect(body.total).toBeGreaterThan(100);
});

/** The parameters of reads besides the id; a read that needs others fails until they are added here. */
const ASKED: Record<string, string> = {
  'access.explain': '?permission=workspace.tools',
  'configs.compare': `?from_id=${NOWHERE}`,
  'models.get': '?id=model_1',
  'profile.gravatar': '?email=ann@example.com',
  'modelVersions.list': '?id=model_1',
  'toolHistory.diff': '?from_id=1&to_id=1',
};
/**
 * The first creates a missing channel; the second sets a time limit first, and `search.test.ts` counts its
 * statements.
 */
const OTHERS = ['channels.direct', 'search.messages'];

const readings = listProcedures(appRouter).flatMap(({ path, type, meta }) => {
  const { method = '', path: rest } = meta?.openapi ?? {};
  const isAsked = type === 'query' && meta?.level !== 'open' && meta?.credential !== 'session';
  return isAsked && rest && !OTHERS.includes(path) ? [[path, method, rest] as const] : [];
});

it.each(readings)(
  '%s runs two statements at most, for members and administrators',
  async (path, method, rest) => {
    const ids = { '/channels': channel, '/tools': 'tool_1', '/groups': group, '/users': ann.id };
    const [, id = NOWHERE] = Object.entries(ids).find(([noun]) => rest.startsWith(noun)) ?? [];
    const address = rest
      .replace('{id}', id)
      .replace('{version}', '1')
      .replaceAll(/\{\w+\}/g, NOWHERE);
    for (const person of [ann, root]) {
      const read = () => as(person)(`${method} ${address}${ASKED[path] ?? ''}`);
      expect([200, 401, 403, 404]).toContain((await read()).status);
      expect((await recordStatements(read)).length).toBeLessThanOrEqual(2);
    }
  },
);
