import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { appErrorIn } from '../../src/core/errors.ts';
import { runCall } from '../../src/core/limits/calls.ts';
import { shareConnections } from '../../src/database/pool.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { startToy, stuck } from './toy.ts';

/**
 * One client starts very many calls and awaits none of them. Tests how many run at once, and what happens to
 * the others.
 */

const toy = await startToy();
afterAll(() => toy.close());
afterEach(() => until('calls to end with their connection', () => stuck.aborted === stuck.entered));

const MEMBER = { authorization: 'Bearer member-token' };

const pipelined = (count: number, last = '') =>
  'GET /api/v1/stuck HTTP/1.1\r\nHost: chat.example.com\r\n\r\n'.repeat(count) + last;

async function openSocket(headers: Record<string, string> = {}, url = toy.url): Promise<WebSocket> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/trpc`, { headers });
  await once(socket, 'open');
  return socket;
}

const callOf = (id: number, path: string, input?: unknown) =>
  JSON.stringify({ id, method: 'query', params: { path, input } });

/** Collects the answers that a socket receives. */
function answersOf(socket: WebSocket): { id: number; error?: { data: { httpStatus: number } } }[] {
  const answers: ReturnType<typeof answersOf> = [];
  socket.on('message', (data) => answers.push(JSON.parse(String(data))));
  return answers;
}

it('requests of one connection are answered one after the other', async () => {
  const before = stuck.entered;
  const socket = connect(toy.port, '127.0.0.1');
  socket.write(pipelined(100));
  await until('the first to be under way', () => stuck.entered === before + 1);
  expect((await fetch(`${toy.url}/api/v1/things`)).status).toBe(200);
  expect(stuck.entered).toBe(before + 1);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

it('a connection with more than a hundred waiting requests is cut', async () => {
  const socket = connect(toy.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(pipelined(102));
  await once(socket, 'close');
});

it('a connection with many requests stays open when the client reads the answers', async () => {
  const socket = connect(toy.port, '127.0.0.1');
  let heard = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    heard += chunk;
  });
  const answers = () => heard.split('HTTP/1.1 200').length - 1;
  const ask = 'GET /api/v1/things HTTP/1.1\r\nHost: chat.example.com\r\n';
  for (let round = 1; round <= 3; round += 1) {
    socket.write(`${ask}\r\n`.repeat(60));
    await until('the answers', () => answers() === 60 * round);
  }
  const closed = once(socket, 'close');
  socket.end(`${ask}Connection: close\r\n\r\n`);
  await closed;
  expect(answers()).toBe(181);
});

it.each(['/api/v1/optional', '/trpc/optional'])(
  'a body to %s in too many pieces is cut; one in many pieces is read',
  async (path) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: chat.example.com\r\nConnection: close\r\nContent-Type: application/json\r\n`;
    const answerTo = async (spaces: number) => {
      const socket = connect(toy.port, '127.0.0.1');
      socket.on('error', () => {});
      const ended = text(socket).catch(() => 'cut');
      socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
      socket.write('1\r\n \r\n'.repeat(spaces));
      socket.write('2\r\n{}\r\n0\r\n\r\n');
      return ended;
    };
    expect(await answerTo(10_000)).toContain('HTTP/1.1 200');
    expect(await answerTo(100_000)).not.toContain('HTTP/1.1 200');
  },
);

it('a message in too many fragments closes its tRPC socket; one in many fragments is read', async () => {
  const sent = async (fragments: number) => {
    const socket = await openSocket();
    const ended = Promise.race([
      once(socket, 'close').then(() => 'closed'),
      once(socket, 'message').then(() => 'answered'),
    ]);
    for (let at = 0; at < fragments; at += 1) socket.send(' ', { fin: false });
    socket.send('{"id":1,"method":"query","params":{"path":"surroundings"}}');
    const outcome = await ended;
    socket.terminate();
    return outcome;
  };
  expect(await sent(1_000)).toBe('answered');
  expect(await sent(2_000)).toBe('closed');
});

it.each<[string, (id: number) => string]>([
  ['calls that are refused', (id) => callOf(id, 'whoami')],
  ['calls that are answered', (id) => callOf(id, 'surroundings')],
  ['calls of unknown procedures', (id) => callOf(id, 'no.such')],
  ['frames that are not JSON', () => '{'],
  [
    'batches',
    (id) => `[${Array.from({ length: 20 }, (_, n) => callOf(id * 20 + n, 'surroundings')).join()}]`,
  ],
  [
    'subscriptions, started and stopped',
    (id) =>
      JSON.stringify({
        id: id >> 1,
        method: id % 2 ? 'subscription.stop' : 'subscription',
        params: { path: 'flood' },
      }),
  ],
])('a tRPC socket without credentials is closed after many %s in a second', async (_what, frameAt) => {
  const socket = await openSocket();
  const answers = answersOf(socket);
  const closed = once(socket, 'close');
  for (let id = 0; id < 5_000; id += 1) socket.send(frameAt(id));
  expect(await closed).toEqual([1008, Buffer.from('Too many calls before credentials were accepted')]);
  expect(answers.length).toBeLessThanOrEqual(80);
});

it('a tRPC socket without credentials runs one call at a time, and the next frame waits', async () => {
  const before = stuck.entered;
  const socket = await openSocket();
  const answers = answersOf(socket);
  for (let id = 1; id <= 20; id += 1) socket.send(callOf(id, 'stuck'));
  socket.send(callOf(21, 'surroundings'));
  await until('the first to be under way', () => stuck.entered === before + 1);
  expect((await fetch(`${toy.url}/api/v1/things`)).status).toBe(200);
  expect(stuck.entered).toBe(before + 1);
  expect(answers).toEqual([]);
  socket.terminate();
});

it('a tRPC socket with accepted credentials gets the answers to very many calls, in turn with other callers', async () => {
  const socket = await openSocket(MEMBER);
  const answers = answersOf(socket);
  // The credentials are not checked yet when the first call arrives.
  for (let id = 1; id <= 5_000; id += 1) socket.send(callOf(id, 'whoami'));
  const other = await openSocket(MEMBER);
  other.send(callOf(1, 'whoami'));
  await once(other, 'message');
  expect(answers.length).toBeLessThan(2_500);
  await until('all answers', () => answers.length === 5_000);
  expect(answers.every(({ error }) => error === undefined)).toBe(true);
  socket.close();
  other.close();
});

it('a tRPC socket is not read while many of its calls run, and they end with the socket', async () => {
  const own = await startToy();
  const before = stuck.entered;
  const socket = await openSocket(MEMBER, own.url);
  socket.send(callOf(0, 'whoami'));
  await once(socket, 'message');
  for (let id = 1; id <= 5_000; id += 1) socket.send(callOf(id, 'stuck'));
  await until('enough to be under way', () => stuck.entered - before >= 32);
  expect((await fetch(`${toy.url}/api/v1/things`)).status).toBe(200);
  expect(stuck.entered - before).toBeLessThanOrEqual(128);
  await own.close();
});

it('a tRPC socket with waiting frames notices at once when its client disconnects', async () => {
  const calls = 128;
  const before = stuck.entered;
  const socket = await openSocket(MEMBER);
  socket.send(callOf(0, 'whoami'));
  await once(socket, 'message');
  for (let id = 1; id <= calls + 1; id += 1) socket.send(callOf(id, 'stuck'));
  await until('enough to be under way', () => stuck.entered - before === calls);
  // Now one frame waits, and the server reads no more from the client.
  await new Promise((sent) => socket.send(callOf(calls + 2, 'stuck'), sent));
  socket.terminate();
  await until('the end of its calls', () => stuck.aborted === stuck.entered, 10_000);
  expect(stuck.entered - before).toBeLessThanOrEqual(calls);
});

it('an account may have two hundred tRPC sockets', async () => {
  const sockets = await Promise.all(Array.from({ length: 201 }, () => openSocket(MEMBER)));
  const closed = Promise.race(sockets.map((socket) => once(socket, 'close')));
  for (const socket of sockets) socket.send(callOf(1, 'whoami'));
  expect(await closed).toEqual([1008, Buffer.from('This account has 200 connections. Close some first.')]);
  for (const socket of sockets) socket.terminate();
});

it('a caller may run 32 short calls and queue 512 more; the next is refused, and other callers are served', async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  let running = 0;
  const call = (caller: string, signal?: AbortSignal) =>
    runCall(caller, { signal }, async () => {
      running += 1;
      await end;
      return caller;
    });
  const gone = new AbortController();
  const calls = Array.from({ length: 543 }, () => call('ann'));
  const abandoned = call('ann', gone.signal).catch((error: Error) => error.name);
  expect(running).toBe(32);
  await expect(call('ann')).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
  const other = call('ben');
  expect(running).toBe(33);
  gone.abort();
  resolve();
  expect(await Promise.all(calls)).toHaveLength(543);
  expect(await other).toBe('ben');
  expect(await abandoned).toBe('AbortError');
  expect(running).toBe(544);
});

it('calls that wait for something long give their place to other calls of the same caller', async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const long = Array.from({ length: 40 }, () => runCall('ann', {}, () => end));
  // For example, the answer to a question of the first call.
  await runCall('ann', {}, () => resolve());
  await Promise.all(long);
});

it('callers take turns at the database, and each may use a part of the connections', async () => {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 10 });
  // A connection that has ended may still report the end of the database.
  pool.on('error', () => {});
  const load = shareConnections(pool);
  const served: string[] = [];
  const ask = (caller: string, end?: Promise<void>) =>
    runCall(caller, {}, async () => {
      const client = await pool.connect();
      served.push(caller);
      await end;
      client.release();
    });
  const held = await Promise.all(Array.from({ length: 10 }, () => pool.connect()));
  const calls = ['ann', 'ann', 'ann', 'ben', 'ann', 'cleo', 'ben'].map((caller) => ask(caller));
  held.pop()?.release();
  await Promise.all(calls);
  expect(served).toEqual(['ann', 'ben', 'cleo', 'ann', 'ben', 'ann', 'ann']);

  for (const client of held) client.release();
  served.length = 0;
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const holding = ['ann', 'ann', 'ann'].map((caller) => ask(caller, end));
  await ask('ben');
  await until('the share to be used', () => served.length === 3);
  expect(served.toSorted()).toEqual(['ann', 'ann', 'ben']);
  expect(load()).toMatchObject({ waiting: 1 });
  resolve();
  await Promise.all(holding);
  await pool.end();
  await database.drop();
});

it('a call that holds a connection gets its second one before calls that hold none', async () => {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 5 });
  // A connection that has ended may still report the end of the database.
  pool.on('error', () => {});
  shareConnections(pool);
  const transaction = () =>
    runCall('ann', {}, async () => {
      const client = await pool.connect();
      await pool.query('select 1');
      client.release();
    });
  await Promise.all(Array.from({ length: 20 }, transaction));
  await pool.end();
  await database.drop();
});

it('a call is refused at once when very many calls wait for the database', async () => {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const load = shareConnections(pool, 2);
  const held = await pool.connect();
  const waiting = [pool.connect(), pool.connect()];
  const refused = await pool.connect().then(
    () => null,
    (error: unknown) => error,
  );
  expect(appErrorIn(refused)).toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
  await expect(pool.query('select 1')).rejects.toThrow('too many wait');
  expect(load()).toMatchObject({ waiting: 2, refused: 2 });
  held.release();
  for (const one of waiting) (await one).release();
  expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await pool.end();
  await database.drop();
});
