import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { signUp, startServer } from '../support/server.ts';
import { listenByTrpc, openCalls } from '../support/sockets.ts';

const closed = listProcedures(appRouter).filter(
  ({ meta, type }) => meta?.level !== 'open' && type !== 'subscription',
);

/** A key that is bound to a path that is nothing's, one that was revoked, and one that may go anywhere. */
let bound: string;
let revoked: string;
let free: string;
/** A socket of each, that of the revoked one from before that. */
const sockets = new Map<string, ReturnType<typeof openCalls>>();

const server = await startServer({ env: { ENABLE_API_KEYS: 'true' } });
const root = await signUp(server, 'Root');

beforeAll(async () => {
  const make = async (name: string, more: object = {}) =>
    (await server.call('POST /auths/api_keys', { token: root.token, body: { name, ...more } })).body;
  bound = (await make('bound', { allowed_endpoints: ['/api/v1/nothing'] })).api_key;
  free = (await make('free')).api_key;
  const { id, api_key } = await make('revoked');
  revoked = api_key;
  for (const key of [bound, free, revoked]) sockets.set(key, openCalls(server.url, key));
  expect(await sockets.get(revoked)?.call('query', 'channels.list', {})).toBe(200);
  await server.call(`DELETE /auths/api_keys/${id}`, { token: root.token });
});
afterAll(async () => {
  for (const { close } of sockets.values()) close();
  await server.close();
});

const ID = '00000000-0000-4000-8000-000000000000';

/** What becomes of a key at a procedure: over REST, and over tRPC by HTTP and by a socket. */
async function outcomes({ path, type, meta }: (typeof closed)[number], key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { method = 'GET', path: rest = '' } = meta?.openapi ?? {};
  const body = method === 'POST' ? '{}' : undefined;
  const [byRest, byTrpc, bySocket] = await Promise.all([
    fetch(`${server.url}/api/v1${rest.replaceAll(/\{\w+\}/g, ID)}`, {
      method,
      headers,
      ...(body && { body }),
    }),
    type === 'query'
      ? fetch(`${server.url}/trpc/${path}?input={}`, { headers })
      : fetch(`${server.url}/trpc/${path}`, { method: 'POST', headers, body: '{}' }),
    sockets.get(key)?.attempt(type, path, {}),
  ]);
  const one = (await byRest.json()) as { code?: string };
  const other = (await byTrpc.json()) as { error?: { data: { error_code: string } } };
  return [one?.code, other?.error?.data.error_code, bySocket?.code];
}

const everywhere = (code: string) => [code, code, code];

describe.each(closed.map((procedure) => [procedure.path, procedure] as const))('%s', (_path, procedure) => {
  it('is out of the reach of a key that is bound to something else', async () => {
    expect(await outcomes(procedure, bound)).toEqual(everywhere('endpoint_forbidden'));
  });

  it('is out of the reach of a key that was revoked', async () => {
    expect(await outcomes(procedure, revoked)).toEqual(everywhere('unauthenticated'));
  });
});

const guarded = closed.filter(({ meta }) => meta?.credential === 'session');

it.each(guarded.map((procedure) => [procedure.path, procedure] as const))(
  '%s takes a sign-in, whatever a key may reach',
  async (_path, procedure) => {
    expect(await outcomes(procedure, free)).toEqual(everywhere('session_required'));
  },
);

it('events are out of the reach of a key that is bound to something else, or was revoked', async () => {
  for (const [key, code] of [
    [bound, 'endpoint_forbidden'],
    [revoked, 'unauthenticated'],
  ] as const) {
    const listener = await listenByTrpc(server.url, key);
    expect(listener.ended).toBe(code);
    listener.close();
  }
});

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
