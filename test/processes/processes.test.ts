import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeChannel } from '../support/channels.ts';
import { withClient } from '../support/database.ts';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { PASSWORD, type Person, signIn, signUp, signUpAs, type TestServer } from '../support/server.ts';
import { type Listener, listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

/** A connection of this database that waits for a lock. */
const WAITING = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

describe.skipIf(withoutRedis)('two processes', () => {
  let pair: Pair;
  let redis: Pair['redis'];
  let database: Pair['database'];
  let here: TestServer;
  let there: TestServer;
  let root: Person;
  let channelId: string;
  let people = 0;

  beforeAll(async () => {
    pair = await startPair();
    ({ here, there, redis, database } = pair);
    root = await signUp(here, 'Root');
    channelId = await makeChannel(here, root);
  });
  afterAll(() => pair.close());

  const post = (server: TestServer, content: string) =>
    server.call(`POST /channels/${channelId}/messages/post`, { token: root.token, body: { content } });
  const whoAmI = async (server: TestServer, { token }: Person) =>
    (await server.call('GET /auths', { token })).status;
  const member = () => signUpAs(here, root, `Member${++people}`, 'user');

  async function withListeners(
    person: Person,
    work: (listeners: Listener[]) => Promise<void>,
  ): Promise<void> {
    const listeners = [
      await listenBySocketIo(there.url, person.token),
      await listenByTrpc(there.url, person.token),
    ];
    try {
      await work(listeners);
    } finally {
      for (const listener of listeners) listener.close();
    }
  }
  const untilAll = (what: string, listeners: Listener[], holds: (listener: Listener) => boolean) =>
    until(what, () => listeners.every(holds));
  const contents = ({ events }: Listener) => events.map(({ content }) => content);

  async function configure(
    change: (configuration: { channels: { enable: boolean }; ui: { watermark: string } }) => void,
  ) {
    const { body } = await here.call('GET /configs/export', { token: root.token });
    change(body);
    expect((await here.call('POST /configs/import', { token: root.token, body })).status).toBe(200);
  }

  const untilRedisIs = (state: string) =>
    until(`both to have Redis ${state}`, async () => {
      const states = await Promise.all(
        [here, there].map(async ({ url }) => {
          const body = (await (await fetch(`${url}/ready`)).json()) as {
            parts: { redis: { state: string } };
          };
          return body.parts.redis.state;
        }),
      );
      return states.every((redisState) => redisState === state);
    });

  /** Checks what must work with Redis, and again after Redis has come back. */
  function crossing(round: string) {
    it('carry messages across, each once and in order', async () => {
      await withListeners(root, async (listeners) => {
        const expected = [];
        for (let i = 0; i < 10; i++) {
          expected.push(`${round} ${i}`);
          await post(i % 2 ? there : here, `${round} ${i}`);
        }
        await untilAll('all messages', listeners, ({ events }) => events.length >= expected.length);
        for (const listener of listeners) expect(contents(listener)).toEqual(expected);
      });
    });

    it('carry reactions and transient notices across', async () => {
      await withListeners(root, async (listeners) => {
        const { id } = (await post(here, 'hello')).body;
        const call = (request: string, body: unknown) =>
          here.call(`POST /channels/${channelId}${request}`, { token: root.token, body });
        await call(`/messages/${id}/reactions/add`, { name: 'wave' });
        const types = ['message', 'message:reaction:add'];
        await untilAll('the events', listeners, ({ events }) => events.length >= types.length);
        // The notice goes to followers at that moment.
        await call('/typing', { typing: true });
        await untilAll('the notice', listeners, ({ notices }) => notices.includes('typing'));
        for (const { events } of listeners) expect(events.map(({ type }) => type)).toEqual(types);
      });
    });

    it('end a session that the other process knows, at REST and both sockets', async () => {
      const person = await member();
      expect(await whoAmI(there, person)).toBe(200);
      await withListeners(person, async (listeners) => {
        await here.call('POST /auths/signout', { token: person.token });
        await until('the token to be refused', async () => (await whoAmI(there, person)) === 401);
        await untilAll('the sockets to end', listeners, ({ ended }) => ended !== undefined);
      });
    });

    it.each([
      ['a role', (person: Person) => here.call(`POST /users/${person.id}/update`, { token: root.token, body: { role: 'pending' } })],
      ['a password', (person: Person) =>
        here.call('POST /auths/update/password', { token: person.token, body: { password: PASSWORD, new_password: 'another good one' } })],
      ['the account', (person: Person) => here.call(`DELETE /users/${person.id}`, { token: root.token })],
    ])('end all sessions with %s', async (_what, act) => {
      const person = await member();
      const other = await signIn(there, person);
      expect(await whoAmI(there, other)).toBe(200);
      await act(person);
      await until('the token to be refused', async () => (await whoAmI(there, other)) === 401);
    }); // biome-ignore format: one case a line

    it('trust no cache about a session that is being ended', async () => {
      const other = await signIn(here, root);
      const newest = 'select id from session order by created_at desc, id desc limit 1';
      const [session] = await database.query<{ id: string }>(newest);
      expect(await whoAmI(there, other)).toBe(200);
      // This transaction ends the session without a notice, and the server waits for it.
      await withClient(database.url, async (client) => {
        await client.query('begin');
        await client.query('delete from session where id = $1', [session?.id]);
        const ending = here.call(`DELETE /auths/sessions/${session?.id}`, { token: root.token });
        await until('the server to wait', async () => (await database.query(WAITING)).length > 0);
        expect(await whoAmI(there, other)).toBe(200);
        await client.query('commit');
        expect((await ending).status).toBe(404);
      });
      expect(await whoAmI(there, other)).toBe(401);
    });

    it('follow a change of the configuration, on open sockets too', async () => {
      await withListeners(root, async (listeners) => {
        await configure((configuration) => {
          configuration.ui.watermark = round;
          configuration.channels.enable = false;
        });
        await until('the other process to follow', async () => {
          const { body } = await there.call('GET /configs/export', { token: root.token });
          return body.ui.watermark === round;
        });
        expect((await there.call('GET /channels', { token: root.token })).body.code).toBe(
          'channels_disabled',
        );
        await configure((configuration) => {
          configuration.channels.enable = true;
        });
        await until('the sockets to hear again', async () => {
          await post(here, 'again');
          return listeners.every((listener) => contents(listener).includes('again'));
        });
      });
    });

    it('count attempts to sign in together', async () => {
      const answers = [];
      for (let i = 0; i < 6; i++) {
        const { status } = await (i % 2 ? there : here).call('POST /auths/signin', {
          body: { email: `${round}@example.com`, password: 'x' },
        });
        answers.push(status);
      }
      expect(answers).toEqual([400, 400, 400, 400, 400, 429]);
    });
  }

  describe('with Redis', () => {
    crossing('first');

    it('are one installation, and prefix all their keys with its name', async () => {
      const [row] = await database.query<{ installation_id: string }>('select installation_id from config');
      const { keys, channels } = await redis.ask(async (client) => ({
        keys: await client.keys('*'),
        channels: (await client.call('pubsub', 'channels')) as string[],
      }));
      const prefix = `parley:${row?.installation_id}:`;
      expect(keys.length).toBeGreaterThan(0);
      expect([...keys, ...channels].filter((key) => !key.startsWith(prefix))).toEqual([]);
    });

    it('store no mail or network address in it', async () => {
      const keys = await redis.ask((client) => client.keys('*'));
      expect(keys.filter((key) => key.includes('example.com'))).toEqual([]);
    });

    it('report it as a working part', async () => {
      const body = await (await fetch(`${here.url}/ready`)).json();
      expect(body).toMatchObject({
        ready: true,
        parts: { redis: { state: 'ok' }, database: { state: 'ok' } },
      });
    });

    it('ignore invalid messages on their channel', async () => {
      const [row] = await database.query<{ installation_id: string }>('select installation_id from config');
      const channel = `parley:${row?.installation_id}:bus`;
      for (const nonsense of [
        '',
        '{',
        'null',
        '[]',
        '{"origin":"x","topic":"auth.revoked","message":null}',
      ]) {
        await redis.ask((client) => client.publish(channel, nonsense));
      }
      // A valid message behind them arrives.
      const person = await member();
      expect(await whoAmI(there, person)).toBe(200);
      await here.call('POST /auths/signout', { token: person.token });
      await until('the token to be refused', async () => (await whoAmI(there, person)) === 401);
      expect(await whoAmI(there, root)).toBe(200);
    });
  });

  describe('while Redis is gone', () => {
    let person: Person;
    beforeAll(async () => {
      person = await member();
      await whoAmI(there, person);
      await redis.kill();
    });
    afterAll(() => redis.restart());

    it('report it', async () => {
      await untilRedisIs('degraded');
      const answer = await fetch(`${here.url}/ready`);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({ ready: true, parts: { database: { state: 'ok' } } });
    });

    it('sign people in, and count attempts separately', async () => {
      const again = await signIn(here, person);
      expect(await whoAmI(there, again)).toBe(200);
      const answers = [];
      for (let i = 0; i < 6; i++) {
        const { status } = await here.call('POST /auths/signin', {
          body: { email: 'gone@example.com', password: 'x' },
        });
        answers.push(status);
      }
      expect(answers.at(-1)).toBe(429);
    });

    it('lose no message', async () => {
      await withListeners(root, async (listeners) => {
        for (const content of ['one', 'two', 'three']) expect((await post(here, content)).status).toBe(200);
        await untilAll('the messages', listeners, ({ events }) => events.length >= 3);
        for (const listener of listeners) expect(contents(listener)).toEqual(['one', 'two', 'three']);
      });
    });

    it('end sessions at once, and sockets soon', async () => {
      const { status } = await here.call('GET /auths', { token: person.token });
      expect(status).toBe(200);
      await withListeners(person, async (listeners) => {
        await here.call('POST /auths/signout', { token: person.token });
        expect(await whoAmI(there, person)).toBe(401);
        await untilAll('the sockets to end', listeners, ({ ended }) => ended !== undefined);
      });
    });

    it('follow a change of the configuration', async () => {
      await configure((configuration) => {
        configuration.ui.watermark = 'meanwhile';
      });
      await until('the other process to follow', async () => {
        const { body } = await there.call('GET /configs/export', { token: root.token });
        return body.ui.watermark === 'meanwhile';
      });
    });
  });

  describe('while Redis answers, but accepts no notices', () => {
    const allow = (rule: string) => redis.ask((client) => client.call('acl', 'setuser', 'default', rule));
    beforeAll(async () => {
      await untilRedisIs('ok');
      await allow('-publish');
    });
    afterAll(() => allow('+publish'));

    it('end sessions through the database', async () => {
      const person = await member();
      expect(await whoAmI(there, person)).toBe(200);
      await withListeners(person, async (listeners) => {
        await here.call('POST /auths/signout', { token: person.token });
        await until('the token to be refused', async () => (await whoAmI(there, person)) === 401);
        await untilAll('the sockets to end', listeners, ({ ended }) => ended !== undefined);
      });
    });
  });

  describe('while Redis hangs', () => {
    beforeAll(async () => {
      await untilRedisIs('ok');
      redis.hang();
    });
    afterAll(() => redis.resume());

    it('sign people in, end their sessions everywhere, and lose no message', async () => {
      const person = await member();
      expect(await whoAmI(there, person)).toBe(200);
      await withListeners(person, async (listeners) => {
        await here.call('POST /auths/signout', { token: person.token });
        await until('the token to be refused', async () => (await whoAmI(there, person)) === 401);
        await untilAll('the sockets to end', listeners, ({ ended }) => ended !== undefined);
      });
      await withListeners(root, async (listeners) => {
        await post(here, 'hangs');
        await untilAll('the message', listeners, (listener) => contents(listener).includes('hangs'));
      });
    });
  });

  describe('when Redis is back', () => {
    beforeEach(() => untilRedisIs('ok'));
    crossing('second');

    it('make up for a notice that only one of them could not send', async () => {
      const person = await member();
      expect(await whoAmI(there, person)).toBe(200);
      // Cuts the ordinary connections and keeps the subscriptions, like a network problem of one process.
      await redis.ask((client) => client.call('client', 'kill', 'type', 'normal', 'skipme', 'yes'));
      await here.call('POST /auths/signout', { token: person.token });
      await until('the token to be refused', async () => (await whoAmI(there, person)) === 401);
    });
  });
});
