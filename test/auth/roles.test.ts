import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDoors } from '../support/doors.ts';
import { kinds, procedures } from '../support/samples.ts';
import { signUp, signUpAs, startServer } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';

/*
 * Every kind of caller calls a procedure of each kind, at every door. That all other procedures use the same
 * bases, which decide before the input is read, is tested in `test/contract/procedures.test.ts`.
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

const server = await startServer();
const doors = {} as Record<Caller, ReturnType<typeof openDoors>>;
const tokens: Partial<Record<Caller, string>> = {};

beforeAll(async () => {
  const root = await signUp(server, 'Root');
  tokens.admin = root.token;
  tokens.user = (await signUpAs(server, root, 'User', 'user')).token;
  tokens.pending = (await signUp(server, 'Pending')).token;
  // This account is signed out, with its sockets.
  tokens.ended = (await signUpAs(server, root, 'Gone', 'admin')).token;
  for (const caller of CALLERS) doors[caller] = openDoors(server.url, tokens[caller]);
  const whoAmI = procedures.find(({ path }) => path === 'auths.whoAmI');
  if (!whoAmI) throw new Error('There is no auths.whoAmI.');
  expect((await doors.ended.try(whoAmI)).map(({ status }) => status)).toEqual([200, 200, 200]);
  await server.call('POST /auths/signout', { token: tokens.ended });
  expect(await doors.ended.at['tRPC socket'](whoAmI, {})).toEqual({ status: 401, code: 'unauthenticated' });
});
afterAll(async () => {
  for (const { close } of Object.values(doors)) close();
  await server.close();
});

describe.each(CALLERS)('%s', (caller) => {
  it.each(kinds)('gets the declared outcome of $kind', async ({ procedure, input, admitted, doorCount }) => {
    const code = REFUSALS[procedure.meta?.level ?? '']?.[caller];
    const expected = code ? { status: STATUSES[code], code } : admitted;
    expect(await doors[caller].try(procedure, input)).toEqual(Array(doorCount).fill(expected));
  });

  it('gets the declared outcome of Socket.IO', async () => {
    const token = tokens[caller];
    // A client without a token may still send one for some seconds; until then it receives nothing.
    if (!token) return;
    const socket = await listenBySocketIo(server.url, token);
    expect(socket.ended).toBe(REFUSALS.member?.[caller]);
    socket.close();
  });
});

it('tests exactly the declared access levels', () => {
  expect([...new Set(procedures.map(({ meta }) => meta?.level))].toSorted()).toEqual(
    Object.keys(REFUSALS).toSorted(),
  );
});
