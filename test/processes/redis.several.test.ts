import { describe, expect, it, onTestFinished } from 'vitest';
import { readRedisAddress } from '../../src/core/processes/redis.address.ts';
import { makeChannel } from '../support/channels.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { startRedisCluster, startSentinel } from '../support/redis.several.ts';
import { withoutRedis } from '../support/redis.ts';
import { signUp, startServer, type TestServer } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';

describe('addresses', () => {
  it('of one server, a cluster and sentinels are read', () => {
    expect(readRedisAddress('rediss://ada:p%40ss@redis.internal:6380/2')).toMatchObject({
      ...{ kind: 'server', tls: true, username: 'ada', password: 'p@ss' },
    });
    expect(readRedisAddress('redis+cluster://:p%40ss@one,two:7001,[::1]:7002')).toEqual({
      ...{ kind: 'cluster', tls: false, password: 'p@ss' },
      nodes: [
        { host: 'one', port: 6379 },
        { host: 'two', port: 7001 },
        { host: '::1', port: 7002 },
      ],
    });
    expect(readRedisAddress('rediss+sentinel://ada:a:b@s1,s2:26380/main?db=3&sentinel_password=c')).toEqual({
      ...{ kind: 'sentinel', tls: true, username: 'ada', password: 'a:b', sentinelPassword: 'c' },
      ...{ name: 'main', db: 3 },
      nodes: [
        { host: 's1', port: 26379 },
        { host: 's2', port: 26380 },
      ],
    });
  });

  it('of other forms are refused', () => {
    for (const wrong of [
      ...['', 'redis', 'http://one', 'redis+cluster://', 'redis+cluster://one,', 'redis+cluster://one:x'],
      ...[
        'redis+sentinel://one',
        'redis+sentinel://one/',
        'redis+sentinel://one/main?db=x',
        'redis+other://one',
      ],
      // A percent sign of a password that was not encoded.
      ...['redis://ada:p%ss@one', 'redis+cluster://:p%ss@one', 'redis+sentinel://one/m%ain'],
    ])
      expect(readRedisAddress(wrong)).toBeNull();
  });
});

describe.skipIf(withoutRedis).each([
  ['a cluster', startRedisCluster],
  ['sentinels', startSentinel],
])('two processes with %s', (_name, startSeveral) => {
  it('work together before, while and after a master fails', async () => {
    const redis = await startSeveral();
    onTestFinished(() => redis.stop());
    const database = await createDatabase();
    const env = {
      REDIS_URL: redis.url,
      SECRET_KEY: 'a secret that both processes have got',
      LOG_LEVEL: 'silent',
    };
    const here = await startServer({ database, env });
    const there = await startServer({ database, env });
    const root = await signUp(here, 'Root');
    const channelId = await makeChannel(here, root);
    const listeners = await Promise.all([here, there].map(({ url }) => listenBySocketIo(url, root.token)));
    const sent: string[] = [];
    const post = async (server: TestServer) => {
      const content = `message ${sent.push('')}`;
      sent[sent.length - 1] = content;
      expect((await server.as(root)(`POST /channels/${channelId}/messages/post`, { content })).status).toBe(
        200,
      );
    };
    const heard = (at: number) =>
      listeners[at]?.events.flatMap(({ type, content }) => (type === 'message' ? [content] : []));
    const bothHear = () =>
      until('both to hear all', () => [0, 1].every((at) => heard(at)?.length === sent.length));

    await untilRedisIs('ok', here, there);
    await post(here);
    await post(there);
    await bothHear();
    const failing = redis.failOver();
    for (let i = 0; i < 5; i++) await post(i % 2 ? here : there);
    await failing;
    await post(here);
    await bothHear();
    await untilRedisIs('ok', here, there);
    await post(there);
    await bothHear();
    expect([heard(0), heard(1)]).toEqual([sent, sent]);

    // The limit of five sign-ins is counted by both together.
    const signIn = (server: TestServer) =>
      server.call('POST /auths/signin', { body: { email: 'other@example.com', password: 'wrong' } });
    const statuses = [];
    for (let i = 0; i < 8; i++) statuses.push((await signIn(i % 2 ? here : there)).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(3);

    for (const listener of listeners) listener.close();
    await here.close();
    await there.close();
    await database.drop();
  });
});

interface Ready {
  parts: { redis: { state: string } };
}

async function untilRedisIs(state: string, ...servers: TestServer[]): Promise<void> {
  await until(`Redis to be ${state} everywhere`, async () => {
    const answers = await Promise.all(
      servers.map(({ url }) => fetch(`${url}/ready`).then((answer) => answer.json() as Promise<Ready>)),
    );
    return answers.every(({ parts }) => parts.redis.state === state);
  });
}
