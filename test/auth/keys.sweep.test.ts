import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDoors } from '../support/doors.ts';
import { kinds } from '../support/samples.ts';
import { signUp, startServer } from '../support/server.ts';
import type { Outcome } from '../support/sockets.ts';

/** Calls a procedure of each kind that needs credentials with API keys, at every door. */
const closed = kinds.filter(({ procedure }) => procedure.meta?.level !== 'open');

const server = await startServer({ env: { ENABLE_API_KEYS: 'true' } });
/** Keys of an administrator: one bound to an unused path, one that was revoked, and one that is not bound. */
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
  // Its socket is opened before the key is revoked.
  const list = closed.find(({ procedure }) => procedure.path === 'channels.list');
  if (!list) throw new Error('There is no channels.list.');
  expect((await doors.revoked.try(list.procedure)).map(({ status }) => status)).toEqual([200, 200, 200]);
  await server.as(root)(`DELETE /auths/api_keys/${ids.revoked}`);
  expect(await doors.revoked.at['tRPC socket'](list.procedure, {})).toEqual({
    status: 401,
    code: 'unauthenticated',
  });
});
afterAll(async () => {
  for (const { close } of Object.values(doors)) close();
  await server.close();
});

describe.each(closed)('$kind', ({ procedure, input, admitted, doorCount }) => {
  const everywhere = (outcome: Outcome) => Array(doorCount).fill(outcome);

  it('refuses a key that is bound to another path', async () => {
    expect(await doors.bound.try(procedure, input)).toEqual(
      everywhere({ status: 403, code: 'endpoint_forbidden' }),
    );
  });

  it('refuses a revoked key', async () => {
    expect(await doors.revoked.try(procedure, input)).toEqual(
      everywhere({ status: 401, code: 'unauthenticated' }),
    );
  });

  if (procedure.meta?.credential === 'session') {
    it('requires a sign-in, for every key', async () => {
      expect(await doors.free.try(procedure, input)).toEqual(
        everywhere({ status: 403, code: 'session_required' }),
      );
    });
  } else {
    it('answers a key that is not bound like its owner', async () => {
      expect(await doors.free.try(procedure, input)).toEqual(everywhere(admitted));
      expect(await doors.owner.try(procedure, input)).toEqual(everywhere(admitted));
    });
  }
});
