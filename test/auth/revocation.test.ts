import { afterAll, describe, expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { PASSWORD, type Person, signIn, signUp, signUpAs, startServer } from '../support/server.ts';
import { type Listener, listenBySocketIo, listenByTrpc } from '../support/sockets.ts';
import { recordStatements } from '../support/statements.ts';

let people = 0;

const server = await startServer();
afterAll(() => server.close());
const root = await signUp(server, 'Root');

const member = () => signUpAs(server, root, `Member${++people}`, 'user');

/** One credential with sockets at every door. */
interface Presence {
  token: string;
  sockets: Listener[];
}

async function arrive({ token }: Person): Promise<Presence> {
  const sockets = [await listenBySocketIo(server.url, token), await listenByTrpc(server.url, token)];
  const presence = { token, sockets };
  expect(await statuses(presence)).toEqual([200, 200]);
  expect(sockets.map(({ ended }) => ended)).toEqual([undefined, undefined]);
  return presence;
}

const statuses = async ({ token }: Presence) => [
  (await server.call('GET /users/permissions', { token })).status,
  (await fetch(`${server.url}/trpc/users.permissions`, { headers: { authorization: `Bearer ${token}` } }))
    .status,
];

async function expectGone(presence: Presence): Promise<void> {
  expect(await statuses(presence)).toEqual([401, 401]);
  await until('both sockets to end', () => presence.sockets.every(({ ended }) => ended !== undefined));
  expect(presence.sockets.map(({ ended }) => ended)).toEqual(['io server disconnect', 'unauthenticated']);
  for (const socket of presence.sockets) socket.close();
}

async function expectPresent(presence: Presence): Promise<void> {
  expect(await statuses(presence)).toEqual([200, 200]);
  expect(presence.sockets.map(({ ended }) => ended)).toEqual([undefined, undefined]);
  for (const socket of presence.sockets) socket.close();
}

const changePassword = (token: string, password: string, new_password: string) =>
  server.call('POST /auths/update/password', { token, body: { password, new_password } });

describe('a session ends at every door', () => {
  it('with a sign-out, and other sessions stay', async () => {
    const person = await member();
    const here = await arrive(person);
    const elsewhere = await arrive(await signIn(server, person));
    const { status, body } = await server.call('POST /auths/signout', { token: person.token });
    expect([status, body]).toEqual([200, { status: true }]);
    await expectGone(here);
    await expectPresent(elsewhere);
  });

  it.each(['POST', 'GET'])('and a repeated sign-out by %s succeeds too', async (method) => {
    const person = await member();
    await server.call('POST /auths/signout', { token: person.token });
    const entries = () => server.database.query(`select from audit_entry where action = 'auth.signout'`);
    const before = await entries();
    for (const token of [person.token, 'no token at all', undefined]) {
      const { status, body, headers } = await server.call(`${method} /auths/signout`, { token });
      expect([status, body]).toEqual([200, { status: true }]);
      expect(headers.get('set-cookie')).toMatch(/^token=;/);
    }
    expect(await entries()).toHaveLength(before.length);
  });

  it('with a sign-out at once, although the database is slow, and then for good', async () => {
    const person = await member();
    const here = await arrive(person);
    const gone = await withClient(server.database.url, async (holder) => {
      await holder.query('begin');
      await holder.query('select from session where user_id = $1 for update', [person.id]);
      const signingOut = server.call('POST /auths/signout', { token: person.token });
      await until('both sockets to end', () => here.sockets.every(({ ended }) => ended !== undefined));
      // The session works until the database has ended it, and not longer.
      expect((await server.call('GET /auths', { token: person.token })).status).toBe(200);
      await holder.query('commit');
      return signingOut;
    });
    expect(gone.body).toEqual({ status: true });
    await expectGone(here);
  });

  it('with a sign-out by GET that carries the token in a header', async () => {
    const person = await member();
    const here = await arrive(person);
    expect((await server.call('GET /auths/signout', { token: person.token })).body).toEqual({ status: true });
    await expectGone(here);
  });

  it('with a change of the password, and so do all other sessions of the account', async () => {
    const person = await member();
    const presences = [await arrive(person), await arrive(await signIn(server, person))];
    const stranger = await arrive(await member());
    const answer = await changePassword(person.token, PASSWORD, 'another password');
    expect([answer.status, answer.body]).toEqual([200, true]);
    for (const presence of presences) await expectGone(presence);
    await expectPresent(stranger);
    await expect(signIn(server, person)).rejects.toThrow('credentials_wrong');
    expect((await signIn(server, person, 'another password')).token).toBeTruthy();
  });

  it('when an administrator sets a password', async () => {
    const person = await member();
    const here = await arrive(person);
    const answer = await server.call(`POST /users/${person.id}/update`, {
      token: root.token,
      body: { password: 'set for you' },
    });
    expect([answer.status, answer.body.password_hash]).toEqual([200, undefined]);
    await expectGone(here);
    await signIn(server, person, 'set for you');
  });

  it.each(['admin', 'pending'])('with a change of the role to %s', async (role) => {
    const person = await member();
    const here = await arrive(person);
    await server.call(`POST /users/${person.id}/update`, { token: root.token, body: { role } });
    await expectGone(here);
    const again = await signIn(server, person);
    expect((await server.call('GET /auths', { token: again.token })).body.role).toBe(role);
  });

  it('when the account is deleted', async () => {
    const person = await member();
    const here = await arrive(person);
    const { status, body } = await server.call(`DELETE /users/${person.id}`, { token: root.token });
    expect([status, body]).toEqual([200, true]);
    await expectGone(here);
    await expect(signIn(server, person)).rejects.toThrow('credentials_wrong');
  });

  it('after its lifetime, also while sockets are open', async () => {
    const { body: configuration } = await server.call('GET /configs/export', { token: root.token });
    const person = await member();
    const lasting = (jwt_expiry: string) =>
      server.call('POST /configs/import', {
        token: root.token,
        body: { ...configuration, auth: { ...configuration.auth, jwt_expiry } },
      });
    await lasting('2s');
    const short = await signIn(server, person);
    const sockets = [
      await listenBySocketIo(server.url, short.token),
      await listenByTrpc(server.url, short.token),
    ];
    await until('the sockets to end', () => sockets.every(({ ended }) => ended !== undefined));
    expect(await statuses({ token: short.token, sockets })).toEqual([401, 401]);
    for (const socket of sockets) socket.close();
    await lasting('4w');
  });
});

describe('a session goes on', () => {
  it('with another name or address, which it shows at once', async () => {
    const person = await member();
    const here = await arrive(person);
    await server.call(`POST /users/${person.id}/update`, {
      token: root.token,
      body: { name: 'Renamed', email: 'Renamed@Example.com', role: 'user' },
    });
    const me = await server.call('GET /auths', { token: person.token });
    expect(me.body).toMatchObject({ name: 'Renamed', email: 'renamed@example.com' });
    await expectPresent(here);
  });

  it('with the role that the account has already, and its token is soon trusted without the database', async () => {
    const person = await member();
    const here = await arrive(person);
    const change = { token: root.token, body: { role: 'user' } };
    expect((await server.call(`POST /users/${person.id}/update`, change)).status).toBe(200);
    await expectPresent(here);
    // The first calls may still read the session, or meet statements that the server runs by itself.
    await expect.poll(() => recordStatements(() => statuses(here), { verifying: true })).toEqual([]);
  });

  it('when a change of the password is refused', async () => {
    const person = await member();
    const here = await arrive(person);
    const answer = await changePassword(person.token, 'wrong', 'another password');
    expect([answer.status, answer.body.code]).toEqual([400, 'password_wrong']);
    expect((await changePassword(person.token, PASSWORD, '')).body.code).toBe('validation');
    expect((await changePassword(person.token, PASSWORD, 'x'.repeat(1025))).body.code).toBe('validation');
    await expectPresent(here);
  });
});

describe('a change of the password', () => {
  it('may be tried five times within three minutes by the holder of the token', async () => {
    const person = await member();
    const answers = [];
    for (let i = 0; i < 6; i++) answers.push((await changePassword(person.token, 'guess', 'x')).status);
    expect(answers).toEqual([400, 400, 400, 400, 400, 429]);
    await signIn(server, person);
  });

  it('succeeds once for two requests at the same moment', async () => {
    const person = await member();
    const answers = await Promise.all(
      ['the first pass phrase', 'the second pass phrase'].map((next) =>
        changePassword(person.token, PASSWORD, next),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400]);
  });

  it('leaves no session that the old password began at the same moment', async () => {
    for (let round = 0; round < 5; round++) {
      const person = await member();
      const attempts = Array.from({ length: 4 }, () => signIn(server, person).catch(() => undefined));
      await changePassword(person.token, PASSWORD, 'another password');
      for (const late of await Promise.all(attempts)) {
        if (late) expect((await server.call('GET /auths', { token: late.token })).status).toBe(401);
      }
    }
  });
});

describe('expired sessions', () => {
  it('are removed by the next start', async () => {
    const database = await createDatabase();
    const first = await startServer({ database });
    await signUp(first, 'Ada');
    await first.close();
    await database.query(`update session set expires_at = now() - interval '1 hour'`);
    const second = await startServer({ database });
    await until('the sweep', async () => (await database.query('select from session')).length === 0);
    await second.close();
    await database.drop();
  });
});
