import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { type Person, signUp, signUpAs, startServer } from '../support/server.ts';
import { openCalls } from '../support/sockets.ts';

/**
 * Every procedure about one channel or one tool, by everyone who has less than the right that it declares: generated from the
 * router, so that a new one cannot be forgotten. A refusal also shows that the sample input was fit to be carried out; what is
 * refused changes nothing, so all of them share one channel and one tool. Readings are tried by those who may, too.
 */
const NOWHERE = '00000000-0000-4000-8000-000000000000';

/** What procedures ask for besides the id. One that needs something else fails here until it is named. */
const SAMPLE = {
  message_id: NOWHERE,
  webhook_id: NOWHERE,
  user_id: NOWHERE,
  user_ids: [NOWHERE],
  content: 'x',
  name: 'x',
  role: 'member',
  level: 'all',
  is_pinned: true,
  is_active: true,
  typing: true,
  version: 1,
  access_grants: [],
  function: 'x',
  arguments: {},
  meta: {},
  valves: {},
};

const RIGHTS = ['none', 'read', 'write', 'manage'];
const NOUNS = { channel: '/channels/{id}', tool: '/tools/id/{id}' };
type Noun = keyof typeof NOUNS;

const swept = listProcedures(appRouter).flatMap(({ path, type, meta }) => {
  const [noun = '', right = ''] = meta?.access.split('.') ?? [];
  const { method = '', path: rest = '', bodyMember } = meta?.openapi ?? {};
  if (!(noun in NOUNS) || !rest.startsWith(NOUNS[noun as Noun])) return [];
  return [{ path, type, noun: noun as Noun, right, method, rest, bodyMember }];
});
type Swept = (typeof swept)[number];

const people: Record<string, Person> = {};
const sockets: Record<string, ReturnType<typeof openCalls>> = {};
const ids: Record<Noun, string> = { channel: '', tool: 'dice' };

const server = await startServer();

beforeAll(async () => {
  const root = await signUp(server, 'Root');
  people.administrator = root;
  for (const name of ['Stranger', 'Reader', 'Writer', 'Owner']) {
    people[name.toLowerCase()] = await signUpAs(server, root, name, 'user');
  }
  const call = (request: string, body: unknown) => server.call(request, { token: root.token, body });
  // The reader holds a grant, the writer is in a group that does.
  const { body: group } = await call('POST /groups/create', { name: 'writers', description: '' });
  await call(`POST /groups/id/${group.id}/users/add`, { user_ids: [people.writer?.id] });
  const access_grants = [
    { principal_type: 'user', principal_id: people.reader?.id, permission: 'read' },
    { principal_type: 'group', principal_id: group.id, permission: 'write' },
  ];
  ids.channel = (await call('POST /channels/create', { name: 'x', access_grants })).body.id;
  await server.database.query('update channel set user_id = $1', [people.owner?.id]);
  await server.database.query(
    `insert into tool (id, user_id, name, content, meta, specs, created_at, updated_at)
     values ('dice', $1, 'dice', '', '{"description": null, "manifest": {}}', '[]', 1, 1)`,
    [people.owner?.id],
  );
  await call('POST /tools/id/dice/access/update', { access_grants });
  for (const [name, { token }] of Object.entries(people)) sockets[name] = openCalls(server.url, token);
});
afterAll(async () => {
  for (const { close } of Object.values(sockets)) close();
  await server.close();
});

/** The statuses at REST, tRPC and a tRPC socket. */
async function statusesOf(
  name: string,
  { path, type, noun, method, rest, bodyMember }: Swept,
): Promise<number[]> {
  const token = people[name]?.token ?? '';
  const input = { ...SAMPLE, id: ids[noun] };
  const address = rest.replaceAll(/\{(\w+)\}/g, (_, member) => String(input[member as keyof typeof input]));
  const body = bodyMember === undefined ? input : {};
  const byRest = await server.call(`${method} ${address}`, { token, ...(method === 'POST' && { body }) });
  const isQuery = type === 'query';
  const query = isQuery ? `?input=${encodeURIComponent(JSON.stringify(input))}` : '';
  const byTrpc = await fetch(`${server.url}/trpc/${path}${query}`, {
    method: isQuery ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(!isQuery && { body: JSON.stringify(input) }),
  });
  return [byRest.status, byTrpc.status, (await sockets[name]?.call(type, path, input)) ?? 0];
}

/** Memberships are of channels that have some: here the answer is 400 to whoever reads the channel, or 404. */
const isOfMembers = ({ path }: Swept) => path.startsWith('members.') || path === 'readers.setActive';

const HELD: [string, string][] = [
  ['stranger', 'none'],
  ['reader', 'read'],
  ['writer', 'write'],
];

describe.each(HELD)('%s', (name, held) => {
  const beyond = swept.filter(({ right, noun }) => {
    const wanted = noun === 'tool' && right === 'manage' ? 'write' : right;
    return RIGHTS.indexOf(wanted) > RIGHTS.indexOf(held);
  });

  it.each(beyond.map((procedure) => [procedure.path, procedure] as const))(
    'is refused %s at every door',
    async (_path, procedure) => {
      const refusal = procedure.noun === 'tool' ? 401 : 403;
      for (const status of await statusesOf(name, procedure)) {
        if (isOfMembers(procedure)) expect([400, 404, refusal]).toContain(status);
        else expect(status).toBe(refusal);
      }
    },
  );
});

describe.each([
  ['reader', 'read'],
  ['writer', 'write'],
  ['owner', 'manage'],
  ['administrator', 'manage'],
])('%s', (name, held) => {
  const within = swept.filter(
    ({ right, type }) => type === 'query' && RIGHTS.indexOf(right) <= RIGHTS.indexOf(held),
  );

  it.each(within.map((procedure) => [procedure.path, procedure] as const))(
    'reads %s at every door',
    async (_path, procedure) => {
      // What hangs on the resource need not be there.
      for (const status of await statusesOf(name, procedure)) expect([200, 404]).toContain(status);
    },
  );
});
