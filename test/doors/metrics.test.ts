import { afterAll, describe, expect, it } from 'vitest';
import { readEnv } from '../../src/env.ts';
import { administer } from '../configs/support.ts';
import { makeChannel } from '../support/channels.ts';
import { readMetrics, scrape as scrapeAs } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { signUp, signUpAll, startServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';

const TOKEN = 'a token that only the scraper has, 1'.replaceAll(' ', '-');
const server = await startServer({ env: { METRICS_TOKEN: TOKEN } });
afterAll(() => server.close());
const [root, ann] = await signUpAll(server, 'Root', 'Ann');
const { as } = server;
const config = administer(server, root);

const get = (headers: Record<string, string> = {}) => fetch(`${server.url}/metrics`, { headers });
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const scrape = () => scrapeAs(server.url, TOKEN);

describe('the metrics are read', () => {
  it('by holders of the token and by administrators, with any kind of credentials', async () => {
    for (const headers of [
      bearer(TOKEN),
      bearer(root.token),
      { 'x-api-key': root.token },
      { cookie: `token=${root.token}` },
    ] as Record<string, string>[]) {
      const answer = await get(headers);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(readMetrics(await answer.text()).value('process_cpu_seconds_total')).toBeGreaterThan(0);
    }
  });

  it('by no other caller', async () => {
    const waiting = await signUp(server, 'Waiting');
    for (const [headers, status, code] of [
      [{}, 401, 'unauthenticated'],
      [bearer('wrong'), 401, 'unauthenticated'],
      [bearer(TOKEN.slice(0, -1)), 401, 'unauthenticated'],
      [bearer(`${TOKEN}1`), 401, 'unauthenticated'],
      [{ cookie: `token=${TOKEN}` }, 401, 'unauthenticated'],
      [{ authorization: `Basic ${btoa(`a:${TOKEN}`)}` }, 401, 'unauthenticated'],
      [bearer(waiting.token), 401, 'account_pending'],
      [bearer(ann.token), 403, 'forbidden'],
    ] as const) {
      const answer = await get(headers);
      expect([answer.status, await answer.json()]).toMatchObject([status, { code }]);
    }
    const posted = await fetch(`${server.url}/metrics`, { method: 'POST', headers: bearer(TOKEN) });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    // The token gives access to nothing else.
    expect((await server.call('GET /users', { token: TOKEN })).status).toBe(401);
  });

  it('with a key of an administrator that reaches them', async () => {
    const restrict = (endpoint_restrictions: boolean, allowed_endpoints = '') =>
      config.configure(({ auth }) => {
        auth.enable_api_keys = true;
        auth.api_key = { endpoint_restrictions, allowed_endpoints };
      });
    await restrict(false);
    const keyFor = async (allowed_endpoints?: string[]) =>
      (await as(root)('POST /auths/api_keys', { name: `${allowed_endpoints}`, allowed_endpoints })).body
        .api_key;
    const keys = {
      any: await keyFor(),
      here: await keyFor(['/metrics']),
      else: await keyFor(['/api/v1/channels']),
    };
    const statuses = async () => {
      const answers = await Promise.all(Object.values(keys).map((key) => get(bearer(key))));
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 403]);
    await restrict(true, '/api/v1/users');
    expect(await statuses()).toEqual([403, 403, 403]);
    await restrict(true, '/metrics');
    expect(await statuses()).toEqual([200, 200, 403]);
    await restrict(false);
  });

  it('without any token when none is set', async () => {
    const other = await startServer();
    const token = (await signUp(other, 'Root')).token;
    const statusFor = async (headers: Record<string, string>) =>
      (await fetch(`${other.url}/metrics`, { headers })).status;
    expect(await statusFor(bearer(TOKEN))).toBe(401);
    expect(await statusFor(bearer('undefined'))).toBe(401);
    expect(await statusFor(bearer(token))).toBe(200);
    await other.close();
  });

  it('with a token that is hard to guess, and that no log and no error shows', async () => {
    for (const token of ['short', 'x'.repeat(31), `${'x'.repeat(20)} ${'y'.repeat(20)}`]) {
      expect(() => readEnv({ METRICS_TOKEN: token })).toThrow(
        /^The environment variable METRICS_TOKEN is wrong: /,
      );
      expect(() => readEnv({ METRICS_TOKEN: token })).not.toThrow(token);
    }
    const lines: string[] = [];
    const logging = await startServer({
      env: { METRICS_TOKEN: TOKEN },
      log: { write: (line) => lines.push(line) },
    });
    await scrapeAs(logging.url, TOKEN);
    expect((await logging.call('GET /auths', { token: TOKEN })).status).toBe(401);
    await logging.close();
    expect(lines.join('\n')).not.toContain(TOKEN);
  });
});

describe('the metrics', () => {
  const REQUESTS = 'parley_http_request_duration_seconds_count';
  const requests = async (labels: Record<string, string>) => (await scrape()).value(REQUESTS, labels);

  it('count requests by method, route and class of the status, with one name for both prefixes', async () => {
    const channelId = await makeChannel(server, root);
    const at = { method: 'GET', route: '/api/v1/channels/:id' };
    const before = {
      good: await requests({ ...at, status: '2xx' }),
      bad: await requests({ ...at, status: '4xx' }),
    };
    await Promise.all(Array.from({ length: 5 }, () => as(root)(`GET /channels/${channelId}`)));
    for (const path of [`/api/channels/${channelId}`, `/api/v1/channels/${channelId}/?x=1`]) {
      expect((await fetch(server.url + path, { headers: bearer(root.token) })).status).toBe(200);
    }
    expect((await server.call(`GET /channels/${channelId}`)).status).toBe(401);
    expect(await requests({ ...at, status: '2xx' })).toBe(before.good + 7);
    expect(await requests({ ...at, status: '4xx' })).toBe(before.bad + 1);
    const { samples, value } = await scrape();
    const buckets = samples.filter(
      ({ name, labels }) =>
        name === 'parley_http_request_duration_seconds_bucket' &&
        labels.route === at.route &&
        labels.status === '2xx',
    );
    expect(buckets.at(-1)?.labels.le).toBe('+Inf');
    expect(buckets.at(-1)?.value).toBe(value(REQUESTS, { ...at, status: '2xx' }));
    for (const [index, bucket] of buckets.entries()) {
      expect(bucket.value).toBeGreaterThanOrEqual(buckets[index - 1]?.value ?? 0);
    }
  });

  it('have the same number of lines after a thousand unknown addresses, methods and ids', async () => {
    const paths = (from: number) => [
      `/nowhere/${from}`,
      `/api/v1/nothing-${from}`,
      `/api/v1/users/${from}`,
      `/%zz${from}`,
    ];
    const ask = async (n: number) => {
      for (const path of paths(n)) {
        await fetch(server.url + path, {
          method: n % 2 ? 'POST' : 'PROPFIND',
          headers: { 'user-agent': `agent-${n}` },
        });
      }
    };
    await Promise.all([ask(0), ask(1)]);
    const before = await scrape();
    const unknown = async () => {
      const { samples } = await scrape();
      return samples
        .filter(({ name, labels }) => name === REQUESTS && labels.route === 'unknown')
        .reduce((sum, sample) => sum + sample.value, 0);
    };
    const counted = await unknown();
    for (let n = 2; n < 336; n += 2) await Promise.all([ask(n), ask(n + 1)]);
    const after = await scrape();
    // Garbage collection may add new kinds.
    const ours = ({ samples }: typeof after) =>
      samples.filter(({ name }) => name.startsWith('parley_')).length;
    expect(ours(after)).toBe(ours(before));
    expect((await unknown()) - counted).toBeGreaterThanOrEqual(2 * 334);
    expect(after.text).not.toMatch(/nowhere|nothing-|PROPFIND|agent-/);
  });

  it('report open sockets, their sent events, and the channels that they follow', async () => {
    const channelId = await makeChannel(server, root);
    const [trpc, socketio] = [{ door: 'trpc' }, { door: 'socketio' }];
    const [delivered, open] = ['parley_events_delivered_total', 'parley_sockets'];
    const atRest = await scrape();
    expect([atRest.value(open, trpc), atRest.value(open, socketio)]).toEqual([0, 0]);
    const listeners = [
      await listenByTrpc(server.url, root.token),
      await listenBySocketIo(server.url, root.token),
      await listenBySocketIo(server.url, root.token),
    ];
    const post = (content: string) => as(root)(`POST /channels/${channelId}/messages/post`, { content });
    const untilHeard = (count: number) =>
      until('the events', () => listeners.every(({ events }) => events.length >= count));
    // A client that received this event follows the channel and gets the next ones live.
    await post('first');
    await untilHeard(1);
    const before = await scrape();
    expect(before.value('parley_channels_followed')).toBeGreaterThan(0);
    for (const content of ['a', 'b', 'c']) await post(content);
    await untilHeard(4);
    expect(listeners.map(({ events }) => events.length)).toEqual([4, 4, 4]);
    const { value } = await scrape();
    expect([value(open, trpc), value(open, socketio)]).toEqual([1, 2]);
    expect(value(delivered, trpc)).toBe(before.value(delivered, trpc) + 3);
    expect(value(delivered, socketio)).toBe(before.value(delivered, socketio) + 6);
    for (const listener of listeners) listener.close();
    await until('the sockets to close', async () => {
      const { value: now } = await scrape();
      return now(open, trpc) + now(open, socketio) === 0;
    });
  });

  it('count sign-ins that a limit refused', async () => {
    const refused = async () => (await scrape()).value('parley_limit_refusals_total', { limit: 'signin' });
    const before = await refused();
    const body = { email: 'nobody@example.com', password: 'wrong' };
    const statuses: number[] = [];
    for (let n = 0; n < 8; n += 1) statuses.push((await server.call('POST /auths/signin', { body })).status);
    expect(statuses.slice(5)).toEqual([429, 429, 429]);
    expect(await refused()).toBe(before + 3);
  });
});

it('contain no user input and no id', async () => {
  const { text, samples } = await scrape();
  expect(text).not.toMatch(/[0-9a-f]{8}-[0-9a-f]{4}-/);
  expect(text).not.toContain('@');
  expect(text).not.toContain(TOKEN);
  expect(text).not.toContain('127.0.0.1');
  for (const { name } of samples.filter((sample) => sample.name.startsWith('parley_'))) {
    expect(name).toMatch(/^parley_[a-z_]+$/);
  }
});
