import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '../cli/run.ts';
import { withClient } from '../support/database.ts';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Person, signUp, type TestServer } from '../support/server.ts';
import { type Listener, listenBySocketIo, listenByTrpc } from '../support/sockets.ts';
import { openBrowser } from './browser.ts';
import { startProvider, type TestProvider } from './provider.ts';
import { claimsOf, entryOf, loginOf, pageOf } from './stage.ts';

/** The connections that wait for a lock. */
const WAITING = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describe.skipIf(withoutRedis)(
  'sockets of two processes whose session began at a provider (needs redis-server)',
  () => {
    let pair: Pair;
    let provider: TestProvider;
    let here: TestServer;
    let there: TestServer;
    let owner: Person;

    beforeAll(async () => {
      provider = await startProvider();
      pair = await startPair({
        env: {
          ...provider.env,
          ENABLE_OAUTH_SIGNUP: 'true',
          ENABLE_OAUTH_ROLE_MANAGEMENT: 'true',
          OAUTH_ALLOWED_ROLES: 'user,other',
        },
      });
      ({ here, there } = pair);
      provider.tellLogoutsAt(`${here.url}/oauth/backchannel-logout`);
      owner = await signUp(here, 'Owner');
    });
    afterAll(async () => {
      await pair.close();
      await provider.close();
    });

    async function enter(subject: string, roles: string[]): Promise<string> {
      provider.signsIn(subject, claimsOf(subject, { roles }));
      const browser = openBrowser();
      const visit = await browser.visit(loginOf({ server: here }), pageOf({ server: here }));
      const { token, error } = entryOf({ server: here }, browser, visit);
      expect(error).toBeNull();
      return `${token}`;
    }
    /** Opens sockets at both doors of both processes, so that all have the session in their caches. */
    async function arrive(token: string): Promise<Listener[]> {
      const sockets: Listener[] = [];
      for (const { url } of [here, there]) {
        sockets.push(await listenBySocketIo(url, token), await listenByTrpc(url, token));
      }
      expect(sockets.map(({ ended }) => ended)).toEqual(Array(4).fill(undefined));
      return sockets;
    }
    async function expectGone(token: string, sockets: Listener[]): Promise<void> {
      await until('all sockets to end', () => sockets.every(({ ended }) => ended !== undefined));
      for (const server of [here, there])
        expect((await server.call('GET /auths', { token })).status).toBe(401);
      expect((await listenByTrpc(there.url, token)).ended).toBe('unauthenticated');
      expect((await listenBySocketIo(there.url, token)).ended).toBe('unauthenticated');
      for (const socket of sockets) socket.close();
    }

    it.each([
      ['the provider ends it', (sid: string) => provider.logOut('Dora', sid)],
      [
        'a command ends it',
        () =>
          run(['user', 'role', 'dora@example.com', 'pending'], {
            ...pair.env,
            DATABASE_URL: pair.database.url,
          }),
      ],
    ])('a session is not taken from a cache while %s', async (_what, end) => {
      const token = await enter('Dora', ['user']);
      const me = async () => (await there.call('GET /auths', { token })).status;
      expect(await me()).toBe(200);
      await withClient(pair.database.url, async (client) => {
        await client.query('begin');
        await client.query('lock table audit_entry in exclusive mode');
        const ending = Promise.allSettled([end(provider.sid())]);
        await until('the end to wait', async () => (await pair.database.query(WAITING)).length > 0);
        // It fails, so no notice says that the session has ended.
        await pair.database.query(`select pg_terminate_backend(pid) from (${WAITING}) waiting`);
        await client.query('rollback');
        await ending;
        expect(await me()).toBe(200);
        await client.query(`delete from session where user_id = (select id from users where name = 'Dora')`);
      });
      expect(await me()).toBe(401);
    });

    it('end with a back-channel logout, and other sockets stay', async () => {
      const token = await enter('Ann', ['user']);
      const sid = provider.sid();
      const sockets = await arrive(token);
      const others = await arrive(await enter('Bob', ['user']));
      await provider.logOut('Ann', sid);
      await expectGone(token, sockets);
      expect(others.map(({ ended }) => ended)).toEqual(Array(4).fill(undefined));
      for (const socket of others) socket.close();
    });

    it('end when the next sign-in no longer has the role of an administrator', async () => {
      const token = await enter('Cleo', ['admin']);
      const sockets = await arrive(token);
      expect((await there.call('GET /users', { token })).status).toBe(200);
      const later = await enter('Cleo', ['other']);
      await expectGone(token, sockets);
      for (const server of [here, there]) {
        expect((await server.call('GET /users', { token: later })).status).toBe(403);
      }
    });

    it('end when the next sign-in has no role, and the new session is pending', async () => {
      const token = await enter('Dora', ['user']);
      const { body } = await here.call('GET /users/search?query=dora', { token: owner.token });
      expect(body.users[0].role).toBe('user');
      const sockets = await arrive(token);
      const later = await enter('Dora', []);
      await expectGone(token, sockets);
      expect((await listenByTrpc(there.url, later)).ended).toBe('account_pending');
      expect((await listenBySocketIo(there.url, later)).ended).toBe('account_pending');
    });

    it('end when the same session signs out at the other process', async () => {
      const token = await enter('Emil', ['user']);
      const sockets = await arrive(token);
      expect((await there.call('POST /auths/signout', { token })).status).toBe(200);
      await expectGone(token, sockets);
    });
  },
);
