import { once } from 'node:events';
import { WebSocket } from 'ws';
import { startRedis, withoutRedis } from '../../test/support/redis.ts';
import { type Parley, startParley, startServer } from '../support/parley.ts';
import { plainResult, type Result } from '../support/report.ts';
import { median, quantile } from '../support/rounds.ts';
import type { Workspace } from '../support/workspace.ts';

const PASSWORD = 'a password of usual length';
/** Credentials that end first without a measurement, since the first run in a process takes longer. */
const WARM_UP = 8;
/** The sign-in allows five attempts for an address in three minutes. */
const SESSIONS_OF_ONE = 4;

/**
 * Measures how long a socket stays open after its credential has ended: at the same process, and at another
 * one.
 */
export async function revocation({ cluster, quick }: Workspace): Promise<Result[]> {
  if (withoutRedis) return [];
  const redis = await startRedis();
  try {
    const databaseUrl = await cluster.createDatabase('revocation');
    const env = {
      REDIS_URL: redis.url,
      SECRET_KEY: 'of a bench that runs for a minute and no longer',
      ENABLE_API_KEYS: 'true',
    };
    const here = await startParley({ databaseUrl, env });
    const there = await startServer({ databaseUrl, env });
    try {
      const people = quick ? 4 : 52;
      const urls: Urls = [here.url, there.url];
      return [
        ...figures('sign-out', await measure(urls, sessions(here, people))),
        ...figures('key revoked', await measure(urls, keys(here, people * SESSIONS_OF_ONE))),
      ];
    } finally {
      await there.stop();
      await here.stop();
    }
  } finally {
    await redis.stop();
  }
}

/** The servers: the one where credentials end, and the other one. */
type Urls = readonly [here: string, there: string];

interface Credential {
  token: string;
  end(): Promise<unknown>;
}

async function* sessions({ url, asAdministrator }: Parley, people: number): AsyncGenerator<Credential> {
  for (let n = 0; n < people; n += 1) {
    const account = { email: `person-${n}@example.com`, name: 'Person', password: PASSWORD, role: 'user' };
    await asAdministrator('POST /users', account);
    for (let session = 0; session < SESSIONS_OF_ONE; session += 1) {
      const { token } = (await post(`${url}/api/v1/auths/signin`, {}, account)) as { token: string };
      const headers = { authorization: `Bearer ${token}` };
      yield { token, end: () => post(`${url}/api/v1/auths/signout`, headers, {}) };
    }
  }
}

async function* keys({ asAdministrator }: Parley, count: number): AsyncGenerator<Credential> {
  for (let n = 0; n < count; n += 1) {
    const { id, api_key } = await asAdministrator<{ id: string; api_key: string }>('POST /auths/api_keys', {
      name: `key ${n}`,
    });
    yield { token: api_key, end: () => asAdministrator(`DELETE /auths/api_keys/${id}`) };
  }
}

/** Milliseconds from the call that ends a credential until each of its sockets is told. */
async function measure(
  urls: Urls,
  credentials: AsyncIterable<Credential>,
): Promise<{ here: number[]; there: number[] }> {
  const times = { here: [] as number[], there: [] as number[] };
  let count = 0;
  for await (const { token, end } of credentials) {
    count += 1;
    const [atHere, atThere] = [await atBothDoors(urls[0], token), await atBothDoors(urls[1], token)];
    const began = performance.now();
    await end();
    const passed = async (stands: Stand[]) =>
      Promise.all(stands.map(async ({ ended }) => (await ended) - began));
    const [here, there] = [await passed(atHere), await passed(atThere)];
    if (count <= WARM_UP) continue;
    times.here.push(...here);
    times.there.push(...there);
  }
  return times;
}

/** A client at an event door; `ended` is the time when the door closed it. */
interface Stand {
  ended: Promise<number>;
}

async function atBothDoors(url: string, token: string): Promise<Stand[]> {
  const base = url.replace('http', 'ws');
  const subscribe = { id: 1, method: 'subscription', params: { path: 'channels.events', input: {} } };
  return [
    await stand(new WebSocket(`${base}/ws/socket.io/?EIO=4&transport=websocket`), {
      hello: `40${JSON.stringify({ token })}`,
      readyAt: '40',
      // The socket closes.
      endsAt: null,
    }),
    await stand(new WebSocket(`${base}/trpc`, { headers: { authorization: `Bearer ${token}` } }), {
      hello: JSON.stringify(subscribe),
      readyAt: '{"id":1,"result":{"type":"started"',
      // A tRPC socket carries many calls; each open call ends with an error.
      endsAt: '{"id":1,"error"',
    }),
  ];
}

interface Conversation {
  hello: string;
  /** The beginning of the frame after which the socket gets events. */
  readyAt: string;
  /** The beginning of the frame after which it gets no more; null when the socket closes instead. */
  endsAt: string | null;
}

/** Waits until a socket gets events. */
async function stand(socket: WebSocket, { hello, readyAt, endsAt }: Conversation): Promise<Stand> {
  await once(socket, 'open');
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<number>();
  socket.on('message', (data) => {
    const frame = String(data);
    if (frame.startsWith(readyAt)) ready.resolve();
    if (endsAt === null || !frame.startsWith(endsAt)) return;
    ended.resolve(performance.now());
    socket.close();
  });
  socket.on('close', () => {
    ready.reject(new Error(`${socket.url} closed a socket whose credential is good.`));
    ended.resolve(performance.now());
  });
  socket.send(hello);
  await ready.promise;
  return { ended: ended.promise };
}

async function post(url: string, headers: Record<string, string>, body: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${url} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}

const figures = (what: string, { here, there }: { here: number[]; there: number[] }): Result[] => [
  figure(`${what} until sockets of the same process know, p50`, median(here)),
  figure(`${what} until sockets of the same process know, p99`, quantile(here, 0.99), 50),
  figure(`${what} until sockets of another process know, p50`, median(there)),
  figure(`${what} until sockets of another process know, p99`, quantile(there, 0.99), 500),
];

const figure = (what: string, ours: number, atMost?: number): Result => plainResult(what, 'ms', ours, atMost);
