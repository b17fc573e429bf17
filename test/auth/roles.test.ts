import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { openDoors } from '../support/doors.ts';
import { signUp, signUpAs, startServer } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';

/**
 * Every procedure that exists, subscriptions too, by everyone who can ask, at every door: generated, so that none can be forgotten.
 * Access is decided before the input is looked at, so an empty input shows it: whoever is let in gets as far as 400 or 404, or 200.
 */
const CALLERS = ['nobody', 'ended', 'pending', 'user', 'admin'] as const;
type Caller = (typeof CALLERS)[number];

const OUT = { nobody: 'unauthenticated', ended: 'unauthenticated' };
const REFUSALS: Record<string, Partial<Record<Caller, string>>> = {
  open: {},
  account: OUT,
  member: { ...OUT, pending: 'account_pending' },
  administrator: { ...OUT, pending: 'account_pending', user: 'forbidden' },
};
const STATUSES: Record<string, number> = { unauthenticated: 401, account_pending: 401, forbidden: 403 };

/** These would end the session that the sweep goes on with; `revocation.test.ts` is about them. */
const ENDING = ['auths.signOut', 'auths.signOutByGet'];

const procedures = listProcedures(appRouter);

const server = await startServer();
const doors = {} as Record<Caller, ReturnType<typeof openDoors>>;
const tokens: Partial<Record<Caller, string>> = {};

beforeAll(async () => {
  const root = await signUp(server, 'Root');
  tokens.admin = root.token;
  tokens.user = (await signUpAs(server, root, 'User', 'user')).token;
  tokens.pending = (await signUp(server, 'Pending')).token;
  // Signed out, and so is the socket that it had.
  tokens.ended = (await signUpAs(server, root, 'Gone', 'admin')).token;
  for (const caller of CALLERS) doors[caller] = openDoors(server.url, tokens[caller]);
  const whoAmI = procedures.find(({ path }) => path === 'auths.whoAmI');
  if (!whoAmI) throw new Error('There is no auths.whoAmI.');
  expect((await doors.ended.try(whoAmI)).map(({ status }) => status)).toEqual([200, 200, 200]);
  await server.call('POST /auths/signout', { token: tokens.ended });
});
afterAll(async () => {
  for (const { close } of Object.values(doors)) close();
  await server.close();
});

/** Whether a rule of the procedure's own may refuse somebody whom its level lets in; `rights.sweep.test.ts` is about those. */
const isFiner = ({ level, access }: { level?: string; access: string }) => access !== level;

describe.each(CALLERS)('%s', (caller) => {
  const calls = procedures.filter(({ path }) => !ENDING.includes(path));

  it.each(calls.map((procedure) => [procedure.path, procedure.meta?.level, procedure] as const))(
    'and %s (%s)',
    async (_path, level, procedure) => {
      const code = REFUSALS[level ?? '']?.[caller];
      const outcomes = await doors[caller].try(procedure);
      expect(outcomes.length).toBe(procedure.type === 'subscription' ? 1 : procedure.meta?.openapi ? 3 : 2);
      for (const outcome of outcomes) {
        if (code) expect(outcome).toEqual({ status: STATUSES[code], code });
        else {
          const { meta = { access: 'open' } } = procedure;
          expect([200, 201, 400, 404, ...(isFiner(meta) ? [401, 403] : [])]).toContain(outcome.status);
        }
      }
    },
  );

  it('and Socket.IO', async () => {
    const token = tokens[caller];
    // Without a token a client may still prove itself for some seconds; it hears nothing until then.
    if (!token) return;
    const socket = await listenBySocketIo(server.url, token);
    expect(socket.ended).toBe(REFUSALS.member?.[caller]);
    socket.close();
  });
});

it('judges by declared levels only', () => {
  expect([...new Set(procedures.map(({ meta }) => meta?.level))].toSorted()).toEqual(
    Object.keys(REFUSALS).toSorted(),
  );
});
