import { io, type Socket } from 'socket.io-client';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { enqueue } from '../../src/jobs/enqueue.ts';
import { defineJob } from '../../src/jobs/kind.ts';
import { makeChannel } from '../support/channels.ts';
import { createDatabase, sqlOf, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { proxyDatabase } from '../support/proxy.ts';
import { signUpAll, startServer } from '../support/server.ts';

/** A server whose PostgreSQL stops and starts again. */
const database = await createDatabase();
const proxy = await proxyDatabase(database.url);
const lines: { level: number; msg: string; [member: string]: unknown }[] = [];
const runs: string[] = [];
let gate = Promise.resolve();
const slow = defineJob({
  name: 'test.slow',
  payload: z.object({ name: z.string() }),
  async run(_parts, { name }) {
    runs.push(name);
    await gate;
  },
  timeLimitMs: 60_000,
  attempts: 3,
  concurrency: 3,
});
const server = await startServer({
  jobKinds: [slow],
  database: { ...database, url: proxy.url },
  log: { write: (line) => void lines.push(JSON.parse(line)) },
});
afterAll(async () => {
  await server.close();
  await proxy.close();
  await database.drop();
});
const [ada] = await signUpAll(server, 'Ada');
const channelId = await makeChannel(server, ada);
const post = (content: string) => server.as(ada)(`POST /channels/${channelId}/messages/post`, { content });

const sockets: Socket[] = [];
afterEach(() => {
  proxy.restore();
  for (const socket of sockets.splice(0)) socket.disconnect();
});

/** The snippet of the README. */
function follow(token = ada.token) {
  const socket = io(server.url, { path: '/ws/socket.io', auth: { token }, forceNew: true });
  const heard: string[] = [];
  const trouble: string[] = [];
  socket.on('message', ({ data }) => heard.push(data.data.content));
  socket.on('disconnect', (reason) => trouble.push(reason));
  socket.on('connect_error', () => trouble.push('connect_error'));
  sockets.push(socket);
  return { socket, heard, trouble };
}

describe('a Socket.IO client', () => {
  it('that reconnects while the database is unreachable retries until it is admitted', async () => {
    const { socket, heard, trouble } = follow();
    await until('the connection', () => socket.connected);
    proxy.cut();
    // Imitates a broken network: the client reconnects at once, and its session cannot be checked.
    let attempts = 0;
    socket.io.on('reconnect_attempt', () => {
      attempts += 1;
    });
    socket.io.engine.close();
    await until('several attempts', () => attempts > 2);
    expect(socket.active).toBe(true);
    proxy.restore();
    await until('the connection', () => socket.connected);
    await until('the server to hear of posts', async () => (await post('again')).status === 200);
    await until('the message', () => heard.includes('again'));
    expect(trouble).not.toContain('connect_error');
  });
});

describe('a call', () => {
  const readyOf = async () => {
    const answer = await fetch(`${server.url}/ready`);
    return { status: answer.status, body: (await answer.json()) as { parts: Record<string, unknown> } };
  };
  const untilServed = () => until('calls to be served', async () => (await post('served')).status === 200);

  it('while the database is unreachable is answered 503 with Retry-After at every door, with one log line a second', async () => {
    await untilServed();
    lines.length = 0;
    const began = performance.now();
    proxy.cut();
    const authorization = { authorization: `Bearer ${ada.token}` };
    const tRpc = () => fetch(`${server.url}/trpc/channels.list`, { headers: authorization });
    const file = () => fetch(`${server.url}/api/v1/files/${channelId}/content`, { headers: authorization });
    for (let round = 0; round < 100; round += 1) {
      const answers = await Promise.all([
        post('x').then(({ status, headers }) => ({ status, headers })),
        tRpc(),
        file(),
      ]);
      for (const { status, headers } of answers) {
        expect([status, headers.get('retry-after')]).toEqual([503, '2']);
      }
    }
    const body = await (await tRpc()).json();
    expect(body).toMatchObject({ error: { data: { httpStatus: 503, error_code: 'unavailable' } } });
    expect(await readyOf()).toMatchObject({
      status: 503,
      body: { parts: { database: { state: 'down' } } },
    });
    // This server has no Python, which it logs now and then.
    const told = () => lines.filter(({ level, msg }) => level >= 40 && !msg.startsWith('Python'));
    await until('the count', () => told().some(({ repeated }) => Number(repeated) > 0));
    expect(new Set(told().map(({ msg }) => msg))).toEqual(new Set(['The database does not answer.']));
    expect(told().length).toBeLessThanOrEqual(2 + (performance.now() - began) / 1000);
    proxy.restore();
    await untilServed();
    expect((await readyOf()).body.parts.database).toEqual({ state: 'ok', detail: 'answers' });
  });

  it('that meets a full disk is answered 507, reading goes on, and /ready reports it', async () => {
    await untilServed();
    await database.query(`create function fill() returns trigger language plpgsql as
      $$ begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`);
    await database.query('create trigger no_room before insert on message execute function fill()');
    const { status, body, headers } = await post('x');
    expect([status, body, headers.get('retry-after')]).toEqual([
      507,
      { detail: expect.stringContaining('room'), code: 'storage_full' },
      '2',
    ]);
    expect((await server.as(ada)(`GET /channels/${channelId}/messages`)).status).toBe(200);
    const { parts } = (await readyOf()).body;
    expect(parts.database).toEqual({ state: 'degraded', detail: 'has no room left on its disk' });
    await database.query('drop trigger no_room on message');
    await untilServed();
  });
});

describe('a job', () => {
  const add = (name: string) => withClient(database.url, (client) => enqueue(sqlOf(client), slow, { name }));
  const kept = () => database.query<{ attempts: number }>('select attempts from graphile_worker.jobs');

  it('that ends while the database is unreachable is not run again, and new ones are run', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    await add('under way');
    await until('the job', () => runs.includes('under way'));
    proxy.cut();
    resolve();
    await add('meanwhile');
    await until('the outage to be noticed', async () => (await post('x')).status === 503);
    expect(await kept()).toHaveLength(2);
    proxy.restore();
    await until('all to be done', async () => (await kept()).length === 0);
    expect(runs).toEqual(['under way', 'meanwhile']);
    // It gets a notice about new jobs again, or finds them.
    await add('later');
    await until('all to be done', async () => (await kept()).length === 0);
    expect(runs).toHaveLength(3);
  });
});
