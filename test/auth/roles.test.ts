import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { type Person, signUp, signUpAs, startServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc, openCalls } from '../support/sockets.ts';

/**
 * Every procedure that exists, by everyone who can ask: generated, so that none can be forgotten. Access is decided before the
 * input is looked at, so an empty input shows it: whoever is let in gets as far as 400 or 404, or 200.
 */
const CALLERS = ['nobody', 'pending', 'user', 'admin'] as const;
type Caller = (typeof CALLERS)[number];

const REFUSALS = { open: {}, account: { nobody: 401 }, member: { nobody: 401, pending: 401 } };
const expected: Record<string, Partial<Record<Caller, number>>> = {
  ...REFUSALS,
  administrator: { ...REFUSALS.member, user: 403 },
};

/** These would end the session that the sweep goes on with; `revocation.test.ts` is about them. */
const ENDING = ['auths.signOut', 'auths.signOutByGet'];

const procedures = listProcedures(appRouter);
const NOWHERE = '00000000-0000-4000-8000-000000000000';

const people: Partial<Record<Caller, Person>> = {};

const server = await startServer();

beforeAll(async () => {
  people.admin = await signUp(server, 'Root');
  people.user = await signUpAs(server, people.admin, 'User', 'user');
  people.pending = await signUp(server, 'Pending');
});
afterAll(async () => {
  for (const { close } of Object.values(sockets)) close();
  await server.close();
});

/** One socket for each caller, as clients have it. */
const sockets: Partial<Record<Caller, ReturnType<typeof openCalls>>> = {};
const callBySocket = (caller: Caller, type: string, path: string) => {
  sockets[caller] ??= openCalls(server.url, tokenOf(caller));
  return sockets[caller].call(type, path, {});
};

const tokenOf = (caller: Caller) => people[caller]?.token;

/** Of tools, a missing permission is told by 401, as the reference has it. */
const toldBy401 = ({ path, access }: { path: string; access: string }) =>
  path.startsWith('tools.') && access.startsWith('permission:');

function judge(status: number, refusal: number | undefined, also: number[]): void {
  if (refusal !== undefined) expect(status).toBe(refusal);
  else expect([200, 201, 400, 403, 404, 429, ...also]).toContain(status);
}

describe.each(CALLERS)('%s', (caller) => {
  const calls = procedures.filter(({ path, type }) => type !== 'subscription' && !ENDING.includes(path));

  it.each(
    calls.map(({ path, meta, type }) => {
      const { level = '', access = '', openapi: rest } = meta ?? {};
      return { path, type, level, access, rest };
    }),
  )('and $path ($level)', async ({ path, type, level, access, rest }) => {
    const refusal = expected[level]?.[caller];
    const also = toldBy401({ path, access }) ? [401] : [];
    const token = tokenOf(caller);
    if (rest) {
      const address = rest.path.replaceAll(/\{\w+\}/g, NOWHERE);
      const hasBody = rest.method === 'POST';
      const { status, body } = await server.call(`${rest.method} ${address}`, {
        token,
        ...(hasBody && { body: {} }),
      });
      judge(status, refusal, also);
      if (refusal !== undefined)
        expect(body).toEqual({ detail: expect.any(String), code: expect.any(String) });
    }
    const isQuery = type === 'query';
    const response = await fetch(`${server.url}/trpc/${path}${isQuery ? '?input=%7B%7D' : ''}`, {
      method: isQuery ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(!isQuery && { body: '{}' }),
    });
    judge(response.status, refusal, also);
    judge(await callBySocket(caller, type, path), refusal, also);
  });

  it('and the sockets', async () => {
    const refusal = {
      nobody: 'unauthenticated',
      pending: 'account_pending',
      user: undefined,
      admin: undefined,
    }[caller];
    const token = tokenOf(caller);
    const subscription = await listenByTrpc(server.url, token);
    expect(subscription.ended).toBe(refusal);
    subscription.close();
    // Without a token a Socket.IO client may still prove itself for some seconds; it hears nothing until then.
    if (!token) return;
    const socket = await listenBySocketIo(server.url, token);
    expect(socket.ended).toBe(refusal);
    socket.close();
  });
});

it('judges by declared levels only', () => {
  expect([...new Set(procedures.map(({ meta }) => meta?.level))].toSorted()).toEqual(
    Object.keys(expected).toSorted(),
  );
});
