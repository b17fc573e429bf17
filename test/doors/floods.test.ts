import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, afterEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { appErrorIn } from '../../src/core/errors.ts';
import { watchWaits } from '../../src/database/pool.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { startToy, stuck } from './toy.ts';

/** One connection that begins very many calls and awaits none of them: how many are under way at once, and what becomes of them. */

const toy = await startToy();
afterAll(() => toy.close());
afterEach(() => until('calls to end with their connection', () => stuck.aborted === stuck.entered));

const pipelined = (count: number, last = '') =>
  'GET /api/v1/stuck HTTP/1.1\r\nHost: chat.example.com\r\n\r\n'.repeat(count) + last;

it('requests of a connection wait for each other, up to a hundred', async () => {
  const before = stuck.entered;
  const socket = connect(toy.port, '127.0.0.1');
  socket.write(pipelined(100));
  await until('all to be under way', () => stuck.entered === before + 100);
  expect(socket.destroyed).toBe(false);
  socket.destroy();
});

it('a connection with more is cut', async () => {
  const socket = connect(toy.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(pipelined(101));
  await once(socket, 'close');
});

it('one that sends many and reads the answers may go on', async () => {
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
  'a body to %s in very many pieces is cut, one in many is read',
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

it('a tRPC socket is read no further while hundreds of its calls are under way, and they end with it', async () => {
  const own = await startToy();
  const before = stuck.entered;
  const socket = new WebSocket(`${own.url.replace('http', 'ws')}/trpc`);
  await once(socket, 'open');
  // Long, so that one read of the server's brings few.
  const input = { note: 'x'.repeat(8_000) };
  for (let id = 0; id < 5_000; id += 1)
    socket.send(JSON.stringify({ id, method: 'query', params: { path: 'stuck', input } }));
  await until('enough to be under way', () => stuck.entered - before >= 256);
  const other = new WebSocket(`${own.url.replace('http', 'ws')}/trpc`);
  await once(other, 'open');
  other.send(JSON.stringify({ id: 1, method: 'query', params: { path: 'surroundings' } }));
  await once(other, 'message');
  expect(stuck.entered - before).toBeLessThan(512);
  await own.close();
  socket.terminate();
});

it('a message in very many fragments closes its tRPC socket, one in many is read', async () => {
  const sent = async (fragments: number) => {
    const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/trpc`);
    await once(socket, 'open');
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

it('a tRPC socket is read on when calls of it have ended', async () => {
  const socket = new WebSocket(`${toy.url.replace('http', 'ws')}/trpc`);
  await once(socket, 'open');
  let answers = 0;
  socket.on('message', () => {
    answers += 1;
  });
  const call = (id: number) => JSON.stringify({ id, method: 'query', params: { path: 'surroundings' } });
  for (let id = 0; id < 5_000; id += 1) socket.send(call(id));
  await until('all answers', () => answers === 5_000);
  socket.close();
});

it('who finds very many waiting for the database is told so at once', async () => {
  const database = await createDatabase();
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const load = watchWaits(pool, 2);
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
