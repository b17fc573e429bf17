import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { openDoors } from '../support/doors.ts';
import { signUp, startServer } from '../support/server.ts';

/** Every procedure that is not open to anybody, subscriptions too, by keys, at every door. */
const closed = listProcedures(appRouter).filter(({ meta }) => meta?.level !== 'open');

const server = await startServer({ env: { ENABLE_API_KEYS: 'true' } });
/** The keys are an administrator's: one bound to a path that is nothing's, one that was revoked, one that may go anywhere. */
const KEYS = ['bound', 'revoked', 'free'] as const;
const doors = {} as Record<(typeof KEYS)[number] | 'owner', ReturnType<typeof openDoors>>;

beforeAll(async () => {
  const root = await signUp(server, 'Root');
  doors.owner = openDoors(server.url, root.token);
  const ids: Record<string, string> = {};
  for (const name of KEYS) {
    const allowed_endpoints = name === 'bound' ? ['/api/v1/nothing'] : undefined;
    const { body } = await server.as(root)('POST /auths/api_keys', { name, allowed_endpoints });
    ids[name] = body.id;
    doors[name] = openDoors(server.url, body.api_key);
  }
  // Its socket stood before it was revoked.
  const list = closed.find(({ path }) => path === 'channels.list');
  if (!list) throw new Error('There is no channels.list.');
  expect((await doors.revoked.try(list)).map(({ status }) => status)).toEqual([200, 200, 200]);
  await server.as(root)(`DELETE /auths/api_keys/${ids.revoked}`);
});
afterAll(async () => {
  for (const { close } of Object.values(doors)) close();
  await server.close();
});

const codesOf = async (key: keyof typeof doors, procedure: (typeof closed)[number]) =>
  (await doors[key].try(procedure)).map(({ code }) => code);
const everywhere = ({ type, meta }: (typeof closed)[number], code: string) =>
  Array(type === 'subscription' ? 1 : meta?.openapi ? 3 : 2).fill(code);

describe.each(closed.map((procedure) => [procedure.path, procedure] as const))('%s', (_path, procedure) => {
  it('is out of the reach of a key that is bound to something else', async () => {
    expect(await codesOf('bound', procedure)).toEqual(everywhere(procedure, 'endpoint_forbidden'));
  });

  it.skipIf(procedure.meta?.withoutActor)('is out of the reach of a key that was revoked', async () => {
    expect(await codesOf('revoked', procedure)).toEqual(everywhere(procedure, 'unauthenticated'));
  });
});

const guarded = closed.filter(({ meta }) => meta?.credential === 'session');

it.each(guarded.map((procedure) => [procedure.path, procedure] as const))(
  '%s takes a sign-in, whatever a key may reach',
  async (_path, procedure) => {
    expect(await codesOf('free', procedure)).toEqual(everywhere(procedure, 'session_required'));
  },
);

const shared = closed.filter((procedure) => !guarded.includes(procedure));

it.each(shared.map((procedure) => [procedure.path, procedure] as const))(
  '%s answers a key that is bound to nothing as it answers its owner',
  async (_path, procedure) => {
    expect(await codesOf('free', procedure)).toEqual(await codesOf('owner', procedure));
  },
);

it('what concerns credentials takes a sign-in', () => {
  expect(guarded.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      'auths.changePassword',
      'auths.signOut',
      'apiKeys.create',
      'apiKeys.list',
      'sessions.list',
      'sessions.end',
    ]),
  );
});
