import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../support/server.ts';
import { type Name, type Noun, otherRules, peopleServer, RIGHTS, type Swept, swept } from './sweep.ts';

/**
 * Every procedure about one channel or one tool, by everyone, at every door. A refusal also shows that the sample input was fit to
 * be carried out; what is refused changes nothing, so all of them share one channel and one tool. What is carried out has one of
 * its own.
 */
const server = await startServer({
  env: { ENABLE_API_KEYS: 'true', ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS: 'true' },
});
const { make, statusesOf, people, doors, close } = await peopleServer(server);
afterAll(close);

const shared = {} as Record<Noun, string>;
let made = 0;

beforeAll(async () => {
  for (const noun of ['channel', 'tool'] as const) shared[noun] = await make[noun](0);
  // What tools contain is for those to change who may also make some; `permission` below is about that.
  await permit('workspace', 'tools', true);
});

async function permit(section: string, leaf: string, value: boolean): Promise<void> {
  const call = server.as(people.administrator);
  const { body: tree } = await call('GET /users/default/permissions');
  tree[section][leaf] = value;
  expect((await call('POST /users/default/permissions', tree)).status).toBe(200);
}

/** Memberships are of channels that have some: here the answer is 400 to whoever reads the channel, or 404. */
const isOfMembers = ({ procedure: { path } }: Swept) =>
  path.startsWith('members.') || path === 'readers.setActive';

/** Of a tool, `manage` is what whoever writes it has. */
const rank = ({ noun, right }: Swept) =>
  RIGHTS.indexOf(noun === 'tool' && right === 'manage' ? 'write' : right);
const named = (some: Swept[]) => some.map((one) => [one.procedure.path, one] as const);

describe.each<[Name, string]>([
  ['stranger', 'none'],
  ['reader', 'read'],
  ['writer', 'write'],
])('%s', (name, held) => {
  const beyond = swept.filter((one) => rank(one) > RIGHTS.indexOf(held));

  it.each(named(beyond))('is refused %s at every door', async (_path, one) => {
    const refusal = one.noun === 'tool' ? 401 : 403;
    const statuses = await statusesOf(name, one, shared[one.noun]);
    expect(statuses.length).toBe(one.procedure.type === 'subscription' ? 1 : 3);
    for (const status of statuses) {
      if (isOfMembers(one)) expect([400, 404, refusal]).toContain(status);
      else expect(status).toBe(refusal);
    }
  });
});

describe.each<[Name, string]>([
  ['reader', 'read'],
  ['writer', 'write'],
  ['owner', 'manage'],
  ['administrator', 'manage'],
])('%s', (name, held) => {
  const within = swept.filter((one) => rank(one) <= RIGHTS.indexOf(held));

  it.each(named(within))('is let in to %s at every door', async (_path, one) => {
    const { noun, procedure } = one;
    made += 1;
    const id = procedure.type === 'query' ? shared[noun] : await make[noun](made);
    // What hangs on it need not be there, and here is no Python; but nobody says that they may not.
    const accepted = procedure.type === 'query' ? [200, 404] : [200, 400, 404, 422, 503];
    for (const status of await statusesOf(name, one, id)) expect(accepted).toContain(status);
  });
});

const permissions = otherRules.filter(({ meta }) => meta?.access.startsWith('permission:'));

describe('a permission', () => {
  it.each(permissions.map((procedure) => [procedure.path, procedure.meta?.access ?? '', procedure] as const))(
    'lets in to %s (%s), and nobody gets in without it',
    async (path, access, procedure) => {
      const [section = '', leaf = ''] = access.slice('permission:'.length).split('.');
      const refusal = path.startsWith('tool') ? 401 : 403;
      const input = { id: `made_${made}`, name: 'x', content: 'x', meta: {}, tools: ['x'] };
      const statusesOfWriter = async () =>
        (await doors.writer.try(procedure, input)).map(({ status }) => status);
      await permit(section, leaf, false);
      const doorCount = procedure.meta?.openapi ? 3 : 2;
      expect(await statusesOfWriter()).toEqual(Array(doorCount).fill(refusal));
      await permit(section, leaf, true);
      for (const status of await statusesOfWriter()) expect([200, 400, 503]).toContain(status);
    },
  );
});

it('every rule of a procedure is swept here, or has a test of its own', () => {
  const others = otherRules.filter((procedure) => !permissions.includes(procedure));
  expect(others.map(({ path }) => path).toSorted()).toEqual([
    // test/events/access.test.ts
    'channels.events',
    // test/files/access.test.ts
    'files.delete',
    'files.get',
    'files.rename',
    'files.text',
    // test/search/search.test.ts
    'search.messages',
    // test/tools/load.test.ts
    'toolLoad.url',
  ]);
});
