import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { io } from 'socket.io-client';
import { afterEach, expect, it } from 'vitest';
import { subscribe } from '../events/listen.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { freePort, type ServerProcess, spawnMain } from '../support/process.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import { call, PASSWORD } from '../support/server.ts';

/** Clients during restarts of real processes. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function setUp(more: Record<string, string> = {}) {
  const database = await createDatabase();
  undo.push(() => database.drop());
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-test-'));
  undo.push(() => rm(DATA_DIR, { recursive: true, force: true }));
  return async (env: Record<string, string>): Promise<ServerProcess & { url: string }> => {
    const server = spawnMain({ DATA_DIR, DATABASE_URL: database.url, ...more, ...env });
    undo.push(() => server.stop('SIGKILL'));
    return { ...server, url: await server.ready() };
  };
}

async function makeChannel(url: string) {
  const body = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
  const token: string = (await call(url, 'POST /auths/signup', { body })).body.token;
  const { id } = (await call(url, 'POST /channels/create', { token, body: { name: 'general' } })).body;
  const post = (at: string, content: string) =>
    call(at, `POST /channels/${id}/messages/post`, { token, body: { content } });
  return { token, post };
}

/** The snippet of the README. */
function follow(url: string, token: string, transports = ['polling', 'websocket']) {
  const socket = io(url, { path: '/ws/socket.io', auth: { token }, transports });
  undo.push(() => socket.disconnect());
  const heard: string[] = [];
  const ends: string[] = [];
  socket.on('message', ({ data }) => heard.push(data.data.content));
  socket.on('disconnect', (reason) => ends.push(reason));
  return { socket, heard, ends };
}

it('clients of every kind reconnect by themselves after SIGTERM and a restart', async () => {
  const start = await setUp();
  const PORT = String(await freePort());
  const first = await start({ PORT });
  const { token, post } = await makeChannel(first.url);
  const clients = [
    follow(first.url, token),
    follow(first.url, token, ['websocket']),
    follow(first.url, token, ['polling']),
  ];
  const tRpc = await subscribe(first.url, token);
  undo.push(() => tRpc.close());
  await until('the connections', () => clients.every(({ socket }) => socket.connected));
  expect(await first.stop('SIGTERM')).toEqual({ code: 0, signal: null });
  const second = await start({ PORT });
  await until('the connections', () => clients.every(({ socket }) => socket.connected));
  await until('all to hear of posts', async () => {
    await post(second.url, 'again');
    return clients.every(({ heard }) => heard.includes('again')) && tRpc.items.length > 0;
  });
  for (const { ends } of clients) expect(ends).not.toContain('io server disconnect');
});

it.skipIf(withoutRedis)(
  'a rolling restart of two processes keeps clients, and calls are served while one drains',
  async () => {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    const start = await setUp({ REDIS_URL: redis.url, SECRET_KEY: 'a secret that both processes have got' });
    const [one, two] = [await start({ SHUTDOWN_GRACE: '3600' }), await start({ SHUTDOWN_GRACE: '3600' })];
    /** A balancer: new connections go to the process that is set here. */
    let target = one.url;
    const balancer = createServer((client) => {
      const server = connect(Number(new URL(target).port), '127.0.0.1');
      client.on('error', () => server.destroy()).pipe(server);
      server.on('error', () => client.destroy()).pipe(client);
    });
    const port = await freePort();
    balancer.listen(port, '127.0.0.1');
    undo.push(() => balancer.close());

    const { token, post } = await makeChannel(one.url);
    const client = follow(`http://127.0.0.1:${port}`, token, ['websocket']);
    await until('the connection', () => client.socket.connected);
    one.child.kill('SIGTERM');
    await until(
      'the process to say that it stops',
      async () => (await fetch(`${one.url}/ready`)).status === 503,
    );
    expect((await post(one.url, 'while it drains')).status).toBe(200);
    await until('the message', () => client.heard.includes('while it drains'));
    expect(client.ends).toEqual([]);
    target = two.url;
    await until('a later signal to end the grace', () => {
      one.child.kill('SIGTERM');
      return one.child.exitCode !== null;
    });
    expect(await one.ended()).toEqual({ code: 0, signal: null });
    await until('the connection', () => client.socket.connected);
    expect(client.ends).toEqual(['transport close']);

    const third = await start({});
    target = third.url;
    // A signal from a terminal ends it at once.
    expect(await two.stop('SIGINT')).toEqual({ code: 0, signal: null });
    await until('the connection', () => client.socket.connected);
    expect(client.ends).toEqual(['transport close', 'transport close']);
    await until('the message', async () => {
      await post(third.url, 'from the third');
      return client.heard.includes('from the third');
    });
  },
);
