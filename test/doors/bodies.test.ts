import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import fastify from 'fastify';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { LIMITS } from '../../src/core/wire.ts';
import { cutSlowBodies } from '../../src/doors/http/bodies.arriving.ts';
import { bodyLimitOf } from '../../src/doors/http/bodies.limits.ts';
import { createPace } from '../../src/doors/http/bodies.ts';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { until } from '../support/poll.ts';
import { parseRaw, request } from './raw.ts';
import { startToy } from './toy.ts';

/** Tests the limits of bodies, and that credentials are checked before a body is read. */

const toy = await startToy();
afterAll(() => toy.close());

const MEMBER = { authorization: 'Bearer member-token' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** Sends the head of a request without its body; resolves when the server closes the connection. */
const sendUnfinished = (path: string, headers: Record<string, string>) =>
  new Promise<ReturnType<typeof parseRaw>>((resolve, reject) => {
    const socket = connect(toy.port, '127.0.0.1');
    socket.write(request(`POST ${path}`, { ...JSON_TYPE, Connection: 'keep-alive', ...headers }));
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(parseRaw(answer)));
  });

describe('before a body is read', () => {
  const ENDLESS = { 'Transfer-Encoding': 'chunked' };
  const LONG = { 'Content-Length': '3000000' };

  it.concurrent.each([
    ['no credentials', '/api/v1/things/x/update', LONG, 401, 'unauthenticated'],
    ['no credentials, at tRPC', '/trpc/things.update', LONG, 401, 'unauthenticated'],
    ['no credentials, in a batch', '/trpc/touch,things.update?batch=1', LONG, 401, 'unauthenticated'],
    [
      'a wrong token',
      '/api/v1/things/x/update',
      { ...LONG, Authorization: 'Bearer wrong' },
      401,
      'unauthenticated',
    ],
    ['a pending account', '/api/v1/touch', { ...LONG, 'x-api-key': 'pending-token' }, 401, 'account_pending'],
    [
      'a caller who is no administrator',
      '/api/v1/things',
      { ...LONG, 'x-api-key': 'member-token' },
      403,
      'forbidden',
    ],
    ['a cookie only', '/trpc/touch', { ...LONG, Cookie: 'token=member-token' }, 403, 'origin_forbidden'],
    ['a body without a length', '/api/v1/touch', ENDLESS, 401, 'unauthenticated'],
    ['a length over the limit', '/api/v1/optional', LONG, 413, 'too_large'],
    ['a length over the limit, at tRPC', '/trpc/optional', LONG, 413, 'too_large'],
    ['a batch of open calls', '/trpc/optional,touch?batch=1', LONG, 413, 'too_large'],
  ])('%s is refused, and the connection ends', async (_what, path, headers, status, code) => {
    const answer = await sendUnfinished(path, headers as Record<string, string>);
    const { error, code: own } = JSON.parse(answer.body);
    expect([answer.status, own ?? error.data.error_code]).toEqual([status, code]);
  });
});

describe('bodies that stall', () => {
  it('lose their connections, the oldest first, while unfinished bodies take too much memory', async () => {
    const app = fastify();
    let arrived = 0;
    app.addHook('preParsing', (_request, _reply, payload, done) => {
      payload.on('data', ({ length }: Buffer) => {
        arrived += length;
      });
      done(null, payload);
    });
    cutSlowBodies(app, { mostBytes: 1_000_000, stalledMs: 20 });
    app.post('/', async ({ body }) => (body as string[]).length);
    await app.listen();
    onTestFinished(async () => {
      app.server.closeAllConnections();
      await app.close();
    });
    const { port } = app.server.address() as AddressInfo;
    /** Sends all of a body but its last byte. */
    const stall = () => {
      const socket = connect(port, '127.0.0.1');
      const json = JSON.stringify(['x'.repeat(450_000)]);
      const headers = { ...JSON_TYPE, 'Content-Length': `${json.length}` };
      socket.write(request('POST /', headers) + json.slice(0, -1));
      socket.on('error', () => {});
      const finish = async () => {
        const answered = once(socket, 'data');
        socket.write(json.slice(-1));
        return parseRaw(String((await answered)[0])).status;
      };
      return { socket, finish };
    };
    const first = stall();
    await until('the first body', () => arrived > 450_000);
    const second = stall();
    await until('the second body', () => arrived > 900_000);
    const body = JSON.stringify(['x'.repeat(300_000)]);
    const post = async () =>
      (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: JSON_TYPE, body })).status;
    await until('the first to be cut', async () => {
      expect(await post()).toBe(200);
      return first.socket.closed;
    });
    expect(second.socket.closed).toBe(false);
    expect(await second.finish()).toBe(200);
  });
});

describe('a body over the limit of its operation', () => {
  const post = async (path: string, body: string) => {
    const response = await fetch(toy.url + path, {
      method: 'POST',
      headers: { ...MEMBER, ...JSON_TYPE },
      body,
    });
    const { error, code } = (await response.json()) as {
      code?: string;
      error?: { data: { error_code: string } };
    };
    return [response.status, code ?? error?.data.error_code];
  };
  const REFUSED = [413, 'too_large'];
  const long = (bytes: number) => JSON.stringify({ note: 'x'.repeat(bytes) });

  it('is refused at REST, and the client can read the reason', async () => {
    expect(await post('/api/v1/optional', long(LIMITS.openBodyBytes - 100))).toEqual([200, undefined]);
    expect(await post('/api/v1/optional', long(LIMITS.openBodyBytes))).toEqual(REFUSED);
    expect(await post('/api/v1/optional', long(4 * 1024 * 1024))).toEqual(REFUSED);
  });

  it('is refused at tRPC, where each call of a batch adds its own limit', async () => {
    const half = long(LIMITS.openBodyBytes * 0.9);
    expect(await post('/trpc/optional', half)).toEqual([200, undefined]);
    expect(await post('/trpc/optional', long(LIMITS.openBodyBytes))).toEqual(REFUSED);
    const batch = `{"0":${half},"1":${half}}`;
    expect((await post('/trpc/optional,optional?batch=1', batch))[0]).toBe(200);
    expect(await post('/trpc/optional,optional?batch=1', `${batch.slice(0, -1)},"2":${half}}`)).toEqual(
      REFUSED,
    );
  });
});

describe('the limit of an operation', () => {
  const procedures = new Map(listProcedures(appRouter).map((procedure) => [procedure.path, procedure]));
  const limitOf = (path: string) => bodyLimitOf(procedures.get(path) as never);
  const KIB = 1024;

  it('is 16 KiB for open operations, and 128 KiB for webhooks', () => {
    const open = [...procedures.values()].filter(({ meta }) => meta?.level === 'open');
    const more = open.filter((procedure) => bodyLimitOf(procedure) !== 16 * KIB).map(({ path }) => path);
    expect([more, limitOf('webhooks.post')]).toEqual([['webhooks.post'], 128 * KIB]);
  });

  it('is computed from the input schema, and is at most 4 MiB', () => {
    const within = (path: string, least: number, most: number) => {
      expect([path, limitOf(path) >= least && limitOf(path) <= most]).toEqual([path, true]);
    };
    within('readers.markRead', 16 * KIB, 20 * KIB);
    within('messages.pin', 16 * KIB, 20 * KIB);
    within('reactions.add', 16 * KIB, 24 * KIB);
    // Text and two free-form members; each of their characters may be escaped.
    within('messages.post', (3 * 64 + 2 * 256) * KIB, 2_048 * KIB);
    within('tools.create', 4_096 * KIB, 4_096 * KIB);
    for (const path of procedures.keys()) within(path, 16 * KIB, 4_096 * KIB);
  });
});

describe('refused bodies', () => {
  it('are read at once up to a burst, then share a rate, and regain the burst while none are sent', () => {
    let now = 0;
    const pace = createPace({ perSecond: 1000, burst: 5000 }, () => now);
    expect([pace.take(4000), pace.take(1000), pace.take(500), pace.take(500)]).toEqual([0, 0, 500, 1000]);
    now += 1000;
    expect(pace.take(100)).toBe(100);
    now += 60_000;
    expect([pace.take(5000), pace.take(1)]).toEqual([0, 1]);
  });
});
