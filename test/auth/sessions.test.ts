import { afterAll, describe, expect, it } from 'vitest';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import {
  PASSWORD,
  type Person,
  PROXY,
  sessionOf,
  signIn,
  signUp,
  signUpAll,
  signUpAs,
  startServer,
  type TestServer,
} from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

const server = await startServer();
afterAll(() => server.close());
const [root, ada, bob] = await signUpAll(server, 'Root', 'Ada', 'Bob');

interface Shown {
  id: string;
  is_current: boolean;
  user_agent: string;
}
const list = async ({ token }: Person): Promise<Shown[]> =>
  (await server.call('GET /auths/sessions', { token })).body;
const end = ({ token }: Person, path: string) => server.call(`DELETE ${path}`, { token });
const whoAmI = async ({ token }: Person) => (await server.call('GET /auths', { token })).status;

describe('the sessions of an account', () => {
  it('are listed with device, address and times, and the current one is marked', async () => {
    const before = Math.floor(Date.now() / 1000);
    const { body } = await server.call('POST /auths/signin', {
      headers: { 'user-agent': 'A browser of the tests/1.0' },
      body: { email: ada.email, password: PASSWORD },
    });
    const there = { ...ada, token: body.token };
    const sessions = await list(ada);
    const after = Math.ceil(Date.now() / 1000);
    const meanwhile = expect.toSatisfy((at) => at >= before && at <= after, `from ${before} to ${after}`);
    expect(sessions.find(({ id }) => id === sessionOf(there))).toEqual({
      id: sessionOf(there),
      user_agent: 'A browser of the tests/1.0',
      ip: '127.0.0.1',
      created_at: meanwhile,
      last_seen_at: meanwhile,
      expires_at: body.expires_at,
      is_current: false,
    });
    expect(sessions.filter(({ is_current }) => is_current).map(({ id }) => id)).toEqual([sessionOf(ada)]);
    expect((await list(there)).find(({ is_current }) => is_current)?.id).toBe(sessionOf(there));
    await end(ada, `/auths/sessions/${sessionOf(there)}`);
  });

  it('can be listed and ended only by their owner', async () => {
    expect((await server.call('GET /auths/sessions')).status).toBe(401);
    expect((await list(bob)).map(({ id }) => id)).toEqual([sessionOf(bob)]);
    expect((await end(bob, `/auths/sessions/${sessionOf(ada)}`)).status).toBe(404);
    for (const path of ['', `/${sessionOf(ada)}`]) {
      expect((await end(bob, `/users/${ada.id}/sessions${path}`)).status).toBe(403);
    }
    expect((await server.call(`GET /users/${ada.id}/sessions`, { token: bob.token })).status).toBe(403);
    expect((await end(root, `/users/${bob.id}/sessions/${sessionOf(ada)}`)).status).toBe(404);
    expect(await whoAmI(ada)).toBe(200);
  });

  it.each(['x', `${'0'.repeat(36)}`, "' or true --"])('cannot be ended by an invalid id: %s', async (id) => {
    const { status, body } = await end(ada, `/auths/sessions/${encodeURIComponent(id)}`);
    expect([status, body.code]).toEqual([404, 'not_found']);
  });

  it.each([
    ['with the current one', '', 401],
    ['but for the current one', '?keep_current=true', 200],
  ])('are ended all at once, %s', async (_which, query, status) => {
    const person = await signUp(server, `Leaving${status}`);
    const others = [await signIn(server, person), await signIn(server, person)];
    const { body } = await end(person, `/auths/sessions${query}`);
    expect(body).toEqual({ ended: status === 200 ? 2 : 3 });
    expect(await Promise.all(others.map(whoAmI))).toEqual([401, 401]);
    expect([await whoAmI(person), await whoAmI(ada)]).toEqual([status, 200]);
  });

  it('can be listed by a pending account', async () => {
    const waiting = await signUp(server, 'Waiting');
    expect((await list(waiting)).map(({ id }) => id)).toEqual([sessionOf(waiting)]);
  });

  it('are not listed when they have expired', async () => {
    const late = await signIn(server, bob);
    await server.database.query(`update session set expires_at = now() - interval '1 s' where id = $1`, [
      sessionOf(late),
    ]);
    expect((await list(bob)).map(({ id }) => id)).not.toContain(sessionOf(late));
  });

  it('record when each was last used', async () => {
    const database = await createDatabase();
    const first = await startServer({ database });
    const person = await signUp(first, 'Ada');
    await database.query(`update session set last_seen_at = 'epoch'`);
    await first.call('GET /auths', { token: person.token });
    // A stop of the server stores what it has recorded.
    await first.close();
    const [row] = await database.query<{ recent: boolean }>(
      `select last_seen_at > now() - interval '1 minute' as recent from session`,
    );
    expect(row?.recent).toBe(true);
    await database.drop();
  });
});

describe('a session that is ended', () => {
  it.each([
    ['by its owner', (target: Person) => end(ada, `/auths/sessions/${sessionOf(target)}`)],
    ['by an administrator', (target: Person) => end(root, `/users/${ada.id}/sessions/${sessionOf(target)}`)],
  ])('%s is gone at every door, and other sessions stay', async (_who, ending) => {
    const target = await signIn(server, ada);
    const sockets = [
      await listenBySocketIo(server.url, target.token),
      await listenByTrpc(server.url, target.token),
    ];
    expect((await ending(target)).body).toEqual({ ended: 1 });
    await until('both sockets to end', () => sockets.every(({ ended }) => ended !== undefined));
    for (const socket of sockets) socket.close();
    expect([await whoAmI(target), await whoAmI(ada)]).toEqual([401, 200]);
    expect((await ending(target)).status).toBe(404);
  });

  it('is ended once by two requests at the same moment', async () => {
    const target = await signIn(server, ada);
    const answers = await Promise.all([1, 2].map(() => end(ada, `/auths/sessions/${sessionOf(target)}`)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 404]);
  });

  it('clears its cookie when it is the current one', async () => {
    const person = await signUp(server, 'Leaving');
    const { headers } = await end(person, `/auths/sessions/${sessionOf(person)}`);
    expect(headers.get('set-cookie')).toMatch(/^token=;.*Expires=Thu, 01 Jan 1970/);
    expect(await whoAmI(person)).toBe(401);
  });

  it('is ended with all others of the account by an administrator', async () => {
    const person = await signUpAs(server, root, 'Many', 'user');
    const other = await signIn(server, person);
    expect((await end(root, `/users/${person.id}/sessions`)).body).toEqual({ ended: 2 });
    expect([await whoAmI(person), await whoAmI(other)]).toEqual([401, 401]);
    expect((await end(root, `/users/${crypto.randomUUID()}/sessions`)).body).toEqual({ ended: 0 });
  });
});

describe('cookies', () => {
  const signUpWith = async (env: Record<string, string>, headers: Record<string, string> = {}) => {
    const at = await startServer({ env });
    const body = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    const answer = await at.call('POST /auths/signup', { headers, body });
    await at.close();
    return answer.headers.getSetCookie();
  };

  it('are limited to our own site and its pages unless the environment says otherwise', async () => {
    const plain = await signUpWith({});
    expect(plain).toHaveLength(2);
    for (const cookie of plain) {
      expect(cookie).toMatch(/; HttpOnly/i);
      expect(cookie).toMatch(/; SameSite=Lax/i);
      expect(cookie).not.toMatch(/; Secure/i);
    }
    const strict = await signUpWith({ AUTH_COOKIE_SAME_SITE: 'strict', AUTH_COOKIE_SECURE: 'true' });
    for (const cookie of strict) expect(cookie).toMatch(/(?=.*; Secure)(?=.*; SameSite=Strict)/i);
    const none = await signUpWith({ AUTH_COOKIE_SAME_SITE: 'none' });
    for (const cookie of none) expect(cookie).toMatch(/(?=.*; Secure)(?=.*; SameSite=None)/i);
    const never = await signUpWith({ AUTH_COOKIE_SECURE: 'false' }, { 'x-forwarded-proto': 'https' });
    for (const cookie of never) expect(cookie).not.toMatch(/; Secure/i);
  });

  it('are marked for https only by the word of trusted proxies, when these are named', async () => {
    const https = { 'x-forwarded-proto': 'https', ...PROXY.headers };
    const trusted = await signUpWith({ ...PROXY.env, TRUSTED_PROXIES: '10.0.0.0/8, 127.0.0.1' }, https);
    const others = await signUpWith({ TRUSTED_PROXIES: '10.0.0.0/8' }, https);
    expect(trusted.every((cookie) => /; Secure/i.test(cookie))).toBe(true);
    expect(others.some((cookie) => /; Secure/i.test(cookie))).toBe(false);
  });
});

describe('a new secret', () => {
  const OLD = 'the first secret of an installation';
  const NEW = 'the secret that took its place later';
  const imported = async (at: TestServer, token: string) => {
    const { body } = await at.call('GET /configs/export', { token });
    body.hosted_model_api.api_base_urls = ['https://models.example.com/v1'];
    body.hosted_model_api.api_keys = ['sk-sealed'];
    expect((await at.call('POST /configs/import', { token, body })).status).toBe(200);
  };
  const exported = async (at: TestServer, token: string) =>
    (await at.call('GET /configs/export?secrets=true', { token })).body.hosted_model_api?.api_keys;

  it('reads values of the older secrets, and seals with the new one', async () => {
    const database = await createDatabase();
    const run = async <T>(secret: string, work: (at: TestServer) => Promise<T>): Promise<T> => {
      const env = { SECRET_KEY: secret, LOG_LEVEL: 'silent' };
      // PostgreSQL may take a moment to notice that the previous server has stopped.
      const at = await until('the database to be free', () =>
        startServer({ database, env }).catch(() => null),
      );
      try {
        return await work(at);
      } finally {
        await at.close();
      }
    };
    const first = await run(OLD, async (at) => {
      const person = await signUp(at, 'Ada');
      await imported(at, person.token);
      return person;
    });
    const second = await run(`${NEW}, ${OLD}`, async (at) => {
      expect((await at.call('GET /auths', { token: first.token })).status).toBe(200);
      expect(await exported(at, first.token)).toEqual(['sk-sealed']);
      const again = await signIn(at, first);
      // Every changed value is sealed again.
      await imported(at, again.token);
      return again;
    });
    await run(NEW, async (at) => {
      expect((await at.call('GET /auths', { token: first.token })).status).toBe(401);
      expect((await at.call('GET /auths', { token: second.token })).status).toBe(200);
      expect(await exported(at, second.token)).toEqual(['sk-sealed']);
    });
    await run(`${OLD}, ${NEW}`, async (at) => {
      expect((await at.call('GET /auths', { token: second.token })).status).toBe(200);
    });
    await run(OLD, async (at) => {
      expect((await at.call('GET /auths', { token: second.token })).status).toBe(401);
    });
    await database.drop();
  });

  it('must be long enough, each of them', async () => {
    for (const secret of [`${NEW},short`, `short,${OLD}`, `${NEW},`]) {
      await expect(startServer({ env: { SECRET_KEY: secret } })).rejects.toThrow('SECRET_KEY is wrong');
    }
  });
});
