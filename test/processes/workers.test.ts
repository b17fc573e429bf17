import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { io } from 'socket.io-client';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { descendantsOf, isAlive, type ServerProcess, spawnMain } from '../support/process.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import { call, PASSWORD, startServer } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';

/** Workers of one primary, without Redis: real processes on one port. */
const METRICS_TOKEN = 'a-token-that-only-the-scraper-has-1';
const SECRET_KEY = 'a secret that all processes have got';

let database: TestDatabase;
let server: ServerProcess;
let dataDir: string;
let url: string;
let token: string;
let channelId: string;

beforeAll(async () => {
  database = await createDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const env = { DATABASE_URL: database.url, DATA_DIR: dataDir, SECRET_KEY, METRICS_TOKEN };
  server = spawnMain(env, { args: ['--workers', '2'] });
  url = await server.ready();
  const body = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
  token = (await call(url, 'POST /auths/signup', { body })).body.token;
  channelId = (await call(url, 'POST /channels/create', { token, body: { name: 'general' } })).body.id;
  await bothServe();
});
afterAll(async () => {
  await server.stop('SIGKILL');
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

const metrics = () => scrape(url, METRICS_TOKEN);
const bothServe = () => until('both to serve', async () => (await metrics()).value('parley_workers') === 2);
const workers = async () =>
  (await descendantsOf(server.child.pid ?? 0)).filter(({ parent }) => parent === server.child.pid);
const post = (content: string) =>
  call(url, `POST /channels/${channelId}/messages/post`, { token, body: { content } });

const eventIds = async () =>
  (
    await database.query<{ id: number }>(
      `select id::int from channel_event where channel_id = '${channelId}' order by id`,
    )
  ).map(({ id }) => id);

/** Waits for the last event of all clients, and checks that each has had every event once and in order. */
async function allHearAll(followers: ReturnType<typeof follow>[]): Promise<void> {
  const ids = await eventIds();
  await until('all to hear the last event', () =>
    followers.every(({ heard }) => heard.at(-1) === ids.at(-1)),
  );
  for (const { heard } of followers) expect(heard).toEqual(ids);
}

/** A client that continues at its position whenever its connection is lost. */
function follow(transports: string[]) {
  const heard: number[] = [];
  const socket = io(url, {
    path: '/ws/socket.io',
    transports,
    forceNew: true,
    reconnectionDelay: 50,
    reconnectionDelayMax: 200,
    auth: (send) => send({ token, events: 'envelope', last_event_ids: { [channelId]: heard.at(-1) ?? 0 } }),
  });
  socket.on('events:channel', ({ event_id }: { event_id?: number }) => {
    if (event_id !== undefined) heard.push(event_id);
  });
  return {
    heard,
    isConnected: () => socket.connected,
    transport: () => socket.io.engine?.transport.name,
    close: () => void socket.disconnect(),
  };
}

it('share connections, and a scrape shows each of them', async () => {
  const listeners = await Promise.all(Array.from({ length: 16 }, () => listenBySocketIo(url, token)));
  await post('hello');
  await until('all to hear it', () => listeners.every(({ events }) => events.length === 1));
  const { value, samples } = await metrics();
  for (const worker of ['1', '2']) {
    expect(value('parley_sockets', { door: 'socketio', worker })).toBeGreaterThan(0);
    expect(value('process_start_time_seconds', { worker })).toBeGreaterThan(0);
  }
  expect(samples.filter(({ name }) => name === 'parley_workers')).toHaveLength(1);
  for (const listener of listeners) listener.close();
});

it('end a session in all of them', async () => {
  const body = { email: 'ada@example.com', password: PASSWORD };
  const { body: session } = await call(url, 'POST /auths/signin', { body });
  const listeners = await Promise.all(Array.from({ length: 4 }, () => listenBySocketIo(url, session.token)));
  await call(url, 'POST /auths/signout', { token: session.token });
  await until('all to end', () => listeners.every(({ ended }) => ended !== undefined));
  const answers = await Promise.all(Array.from({ length: 4 }, () => call(url, 'GET /auths', session)));
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
});

it('serve clients of Socket.IO that poll, and those that begin with polling', async () => {
  const polling = Array.from({ length: 4 }, () => follow(['polling']));
  const upgrading = Array.from({ length: 4 }, () => follow(['polling', 'websocket']));
  const all = [...polling, ...upgrading];
  await until('all to connect', () => all.every(({ isConnected }) => isConnected()));
  await until('the upgrades', () => upgrading.every(({ transport }) => transport() === 'websocket'));
  expect(polling.map(({ transport }) => transport())).toEqual(Array(4).fill('polling'));
  for (let i = 0; i < 5; i++) await post(`poll ${i}`);
  await allHearAll(all);
  for (const { close } of all) close();
});

it('count limits together', async () => {
  const signIn = () =>
    call(url, 'POST /auths/signin', {
      body: { email: 'grace@example.com', password: 'wrong' },
      headers: { connection: 'close' },
    });
  const statuses: number[] = [];
  for (let i = 0; i < 8; i++) statuses.push((await signIn()).status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3);
});

it('need the database for themselves', async () => {
  const line = 'Another Parley process uses this database';
  const second = spawnMain({ DATABASE_URL: database.url, DATA_DIR: dataDir, SECRET_KEY, WORKERS: '2' });
  await expect(startServer({ database, env: { SECRET_KEY } })).rejects.toThrow(line);
  expect(await second.ended()).toEqual({ code: 1, signal: null });
  expect(second.output.stderr).toContain(line);
});

it.skipIf(withoutRedis)('need it without processes on a Redis', async () => {
  const redis = await startRedis();
  const started = startServer({ database, env: { SECRET_KEY, REDIS_URL: redis.url } });
  await expect(started).rejects.toThrow('Another Parley process uses this database');
  await redis.stop();
});

it('lose no acknowledged post and no event when they are killed', async () => {
  const followers = [['websocket'], ['websocket'], ['polling'], ['polling', 'websocket']].map(follow);
  await until('all to connect', () => followers.every(({ isConnected }) => isConnected()));
  const acknowledged: string[] = [];
  let isOver = false;
  const writers = [1, 2, 3].map(async (writer) => {
    for (let i = 0; !isOver; i++) {
      const { status, body } = await post(`${writer} ${i}`).catch(() => ({ status: 0, body: null }));
      if (status === 200) acknowledged.push(body.id);
      // Each post reaches four clients: without a rest, most of the processor time would go into more of the same.
      await delay(20);
    }
  });
  for (const number of [1, 2]) {
    const before = acknowledged.length;
    await until('more posts', () => acknowledged.length > before + 20);
    const [, killed] = [...(await workers())].sort((a, b) => b.pid - a.pid);
    if (killed) process.kill(killed.pid, 'SIGKILL');
    await until('the primary to notice', async () => {
      const { value } = await metrics().catch(() => ({ value: () => 0 }));
      return value('parley_worker_restarts_total') === number && value('parley_workers') === 2;
    });
  }
  isOver = true;
  await Promise.all(writers);
  const events = await database.query<{ id: number; message_id: string | null }>(
    `select id::int, message_id from channel_event where channel_id = '${channelId}' order by id`,
  );
  const stored = new Set(events.map(({ message_id }) => message_id));
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  await allHearAll(followers);
  for (const { close } of followers) close();
});

it('forget who was connected to a killed worker as soon as another one takes its place', async () => {
  const as = (request: string, body: object) => call(url, request, { token, body });
  const body = { email: 'bob@example.com', name: 'Bob', password: PASSWORD };
  const bob = (await call(url, 'POST /auths/signup', { body })).body;
  await as(`POST /users/${bob.id}/update`, { role: 'user' });
  const access_grants = [{ principal_type: 'user', principal_id: '*', permission: 'read' }];
  await as(`POST /channels/${channelId}/update`, { access_grants });
  const { token: bobsToken } = (await call(url, 'POST /auths/signin', { body })).body;

  const observe = () => {
    const auth = { token, events: 'envelope' };
    const socket = io(url, {
      path: '/ws/socket.io',
      transports: ['websocket'],
      forceNew: true,
      reconnection: false,
      auth,
    });
    /** Whether Bob was here, by each notice about him. */
    const seen: boolean[] = [];
    socket.on('events:channel', ({ data: { type, data }, user }) => {
      if (type === 'presence' && user.id === bob.id) seen.push(data.is_active);
    });
    return { seen, isConnected: () => socket.connected, close: () => void socket.disconnect() };
  };
  const observers = Array.from({ length: 16 }, observe);
  await until('all to connect', () => observers.every(({ isConnected }) => isConnected()));
  const countIn = async () => {
    const { value } = await metrics();
    return ['1', '2'].map((worker) => value('parley_sockets', { door: 'socketio', worker }));
  };
  const countOfAll = async () => (await countIn()).reduce((sum, count) => sum + count, 0);
  await until(
    'the sockets of earlier tests to be gone',
    async () => (await countOfAll()) === observers.length,
  );
  const before = await countIn();
  const his = await listenBySocketIo(url, bobsToken);
  const after = await countIn();
  const number = after.findIndex((count, n) => count !== before[n]) + 1;
  await until('all to hear that he came', () => observers.every(({ seen }) => seen.at(-1) === true));

  const environments = await Promise.all(
    (await workers()).map(async ({ pid }) => ({ pid, text: await readFile(`/proc/${pid}/environ`, 'utf8') })),
  );
  const killed = environments.find(({ text }) => text.includes(`"number":${number},`));
  if (killed) process.kill(killed.pid, 'SIGKILL');
  await until('his end', () => his.ended);
  await bothServe();
  const others = observers.filter(({ isConnected }) => isConnected());
  expect(others.length).toBeGreaterThan(0);
  const haveHeard = () => others.every(({ seen }) => seen.at(-1) === false);
  // Sooner than the silence of a process tells it.
  await until('the others to hear that he went', haveHeard, 30_000);
  for (const { close } of observers) close();
});

it('pause longer before each start of a worker that cannot start', async () => {
  const name = new URL(database.url).pathname.slice(1);
  const allow = (allowed: boolean) =>
    withClient(inject('clusterUrl'), (client) =>
      client.query(`alter database ${name} allow_connections ${allowed}`),
    );
  const ends = () => [...server.output.stderr.matchAll(/"worker":(\d+),.*"restart_in_seconds":([\d.]+)/g)];
  const before = ends().length;
  /** Of one worker: the other one ends too when it has not come up yet. */
  const pauses = () => {
    const [first, ...others] = ends().slice(before);
    const own = others.filter(([, worker]) => worker === first?.[1]);
    return first ? [first, ...own].map(([, , pause]) => Number(pause)) : [];
  };
  const [killed] = await workers();
  await allow(false);
  if (killed) process.kill(killed.pid, 'SIGKILL');
  await until('three starts', () => pauses().length >= 3);
  await allow(true);
  const [first = 0, second, third] = pauses();
  expect([second, third]).toEqual([first * 2, first * 4]);
  await bothServe();
  expect((await post('still here')).status).toBe(200);
});

it('end with their primary, when that is told to stop', async () => {
  const children = await workers();
  expect(children).toHaveLength(2);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(children.filter(isAlive)).toEqual([]);
});

describe('with the embedded database', () => {
  it('end with it when the primary is killed, and the next start finds all free', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
    const env = { DATA_DIR: folder, WORKERS: '2' };
    const first = spawnMain(env);
    onTestFinished(() => void first.child.kill('SIGKILL'));
    await first.ready();
    await until('the second worker', () => first.output.stderr.includes('"worker":2'));
    const below = await descendantsOf(first.child.pid ?? 0);
    expect(below.some(({ command }) => command.includes('parley.cluster='))).toBe(true);
    await first.stop('SIGKILL');
    await until('all to end', () => !below.some(isAlive));
    const next = spawnMain(env);
    onTestFinished(() => void next.child.kill('SIGKILL'));
    await next.ready();
    const children = await descendantsOf(next.child.pid ?? 0);
    expect(await next.stop()).toEqual({ code: 0, signal: null });
    expect(children.filter(isAlive)).toEqual([]);
    await rm(folder, { recursive: true, force: true });
  });

  it('do not start when the first of them cannot, and the primary ends', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
    const refused = spawnMain({
      DATA_DIR: folder,
      SECRET_KEY: 'x'.repeat(32),
      REDIS_URL: 'redis://127.0.0.1:1',
      WORKERS: '2',
    });
    expect(await refused.ended()).toEqual({ code: 1, signal: null });
    expect(refused.output.stderr).toContain('REDIS_URL cannot be used (ECONNREFUSED)');
    const wrong = spawnMain({ DATA_DIR: folder }, { args: ['--workers', 'many'] });
    await wrong.ended();
    expect(wrong.output.stderr).toBe(
      'The environment variable WORKERS is wrong: must be a whole number from 1 to 999, or auto.\n',
    );
    await rm(folder, { recursive: true, force: true });
  });
});
