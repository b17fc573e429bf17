import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../support/server.ts';
import { type Name, otherRules, peopleServer, RIGHTS, type Swept, swept } from './sweep.ts';

/**
 * Calls every procedure about one tool as every user, at every door. A refusal also shows that the sample
 * input was valid. Refused calls change nothing, so they share one tool; each accepted call has a tool of its
 * own.
 */
const server = await startServer({
  env: { ENABLE_API_KEYS: 'true', ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS: 'true' },
});
const { makeTool, statusesOf, people, doors, close } = await peopleServer(server);
afterAll(close);

let shared: string;
let made = 0;

beforeAll(async () => {
  shared = await makeTool(0);
  // Changing the source of a tool also requires this permission; see `permission` below.
  await permit('workspace', 'tools', true);
});

async function permit(section: string, leaf: string, value: boolean): Promise<void> {
  const call = server.as(people.administrator);
  const { body: tree } = await call('GET /users/default/permissions');
  tree[section][leaf] = value;
  expect((await call('POST /users/default/permissions', tree)).status).toBe(200);
}

/**
 * The outcomes of accepted calls, door by door: samples name missing resources beside the tool (404), and
 * this server has no Python (503).
 */
const ADMITTED: Record<string, number[]> = {
  'toolHistory.delete': [400, 400, 400],
  'toolHistory.diff': [404, 404, 404],
  'toolHistory.get': [404, 404, 404],
  'toolHistory.list': [200, 200, 200],
  'toolHistory.restore': [404, 404, 404],
  'toolHistory.specs': [200, 200, 200],
  'toolInstall.get': [200, 200, 200],
  'toolInstall.start': [503, 503, 503],
  'toolVersions.get': [404, 404, 404],
  'toolVersions.list': [200, 200, 200],
  'toolVersions.restore': [404, 404, 404],
  'tools.delete': [200, 404, 404],
  'tools.get': [200, 200, 200],
  'tools.invoke': [503, 503, 503],
  'tools.run': [200],
  'tools.runs': [200, 200, 200],
  'tools.update': [503, 503, 503],
  'tools.updateAccess': [200, 200, 200],
  'valves.get': [200, 200, 200],
  'valves.spec': [200, 200, 200],
  'valves.update': [404, 404, 404],
  'valves.userGet': [200, 200, 200],
  'valves.userSpec': [200, 200, 200],
  'valves.userUpdate': [404, 404, 404],
};
/** The same for calls that a permission admits. A second key with the same name is refused. */
const PERMITTED: Record<string, number[]> = {
  'apiKeys.create': [200, 400, 400],
  'apiKeys.replaceDefault': [200, 200, 200],
  'modelTransfer.export': [200, 200, 200],
  'modelTransfer.import': [200, 200, 200],
  'models.create': [400, 400, 400],
  'toolImport.file': [200, 200],
  'tools.create': [503, 503, 503],
  'tools.export': [200, 200, 200],
};

/** For a tool, `manage` belongs to everyone with write access. */
const rank = ({ right }: Swept) => RIGHTS.indexOf(right === 'manage' ? 'write' : right);
/** Procedures of channels are in the table of `test/channels/access.test.ts`. */
const ofTools = swept.filter(({ noun }) => noun === 'tool');
const named = (some: Swept[]) => some.map((one) => [one.procedure.path, one] as const);

describe.each<[Name, string]>([
  ['stranger', 'none'],
  ['reader', 'read'],
])('%s', (name, held) => {
  const beyond = ofTools.filter((one) => rank(one) > RIGHTS.indexOf(held));

  it.each(named(beyond))('is refused %s at every door', async (_path, one) => {
    const doorCount = one.procedure.type === 'subscription' ? 1 : 3;
    expect(await statusesOf(name, one, shared)).toEqual(Array(doorCount).fill(401));
  });
});

describe.each<[Name, string]>([
  ['reader', 'read'],
  ['writer', 'write'],
  ['owner', 'manage'],
  ['administrator', 'manage'],
])('%s', (name, held) => {
  const within = ofTools.filter((one) => rank(one) <= RIGHTS.indexOf(held));

  it.each(named(within))('may call %s at every door', async (_path, one) => {
    const { procedure } = one;
    made += 1;
    const id = procedure.type === 'query' ? shared : await makeTool(made);
    expect(await statusesOf(name, one, id)).toEqual(ADMITTED[procedure.path]);
  });
});

const permissions = otherRules.filter(({ meta }) => meta?.access.startsWith('permission:'));

describe('a permission', () => {
  it.each(permissions.map((procedure) => [procedure.path, procedure.meta?.access ?? '', procedure] as const))(
    'is required for %s (%s), and sufficient',
    async (path, access, procedure) => {
      const [section = '', leaf = ''] = access.slice('permission:'.length).split('.');
      const refusal = path.startsWith('tool') ? 401 : 403;
      const input = {
        id: `made_${made}`,
        name: 'x',
        content: 'x',
        meta: {},
        tools: ['x'],
        base_model_id: 'x',
        models: ['x'],
      };
      const statusesOfWriter = async () =>
        (await doors.writer.try(procedure, input)).map(({ status }) => status);
      await permit(section, leaf, false);
      const doorCount = procedure.meta?.openapi ? 3 : 2;
      expect(await statusesOfWriter()).toEqual(Array(doorCount).fill(refusal));
      await permit(section, leaf, true);
      expect(await statusesOfWriter()).toEqual(PERMITTED[path]);
    },
  );
});

it('every rule of a procedure is tested here or elsewhere', () => {
  const others = otherRules.filter((procedure) => !permissions.includes(procedure));
  expect(others.map(({ path }) => path).toSorted()).toEqual([
    // Tested in test/events/access.test.ts
    'channels.events',
    // Tested in test/files/access.test.ts
    'files.delete',
    'files.get',
    'files.rename',
    'files.text',
    'files.updateText',
    // Tested in test/models
    'modelVersions.delete',
    'modelVersions.get',
    'modelVersions.list',
    'modelVersions.restore',
    'models.delete',
    'models.get',
    'models.toggle',
    'models.update',
    'models.updateAccess',
    // Tested in test/search/search.test.ts
    'search.messages',
    // Tested in test/tools/load.test.ts
    'toolLoad.url',
  ]);
});
