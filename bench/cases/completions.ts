import { setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Streamed, StreamsTask } from '../load/streams.ts';
import type { Watched, WatchOptions, WatchTask } from '../load/watch.ts';
import { type Child, startChild } from '../support/child.ts';
import { type Parley, startParley } from '../support/parley.ts';
import { plainResult, type Result } from '../support/report.ts';
import { alternate, type Contender, median } from '../support/rounds.ts';
import type { Workspace } from '../support/workspace.ts';

const STREAMS = 200;
/** For the CPU of a token: a core that is full joins tokens, and a proxy that does not read them gains most from that. */
const FEW_STREAMS = 50;
/** Of one stream: a model of usual speed. */
const TOKENS_PER_SECOND = 50;
const OTHERS = ['/api/v1/auths/', '/api/v1/channels/', '/api/v1/users/search?query=e'];
const PER_SECOND = 20;
/** Seconds in which the streams begin. */
const BEGINNING = 2;

/** Streams 200 answers at once through the OpenAI door, against a bare proxy; and what other calls take meanwhile. */
export async function completions({ cluster, quick, rounds }: Workspace): Promise<Result[]> {
  const seconds = quick ? 4 : 10;
  const databaseUrl = await cluster.createDatabase('completions');
  await using provider = await startChild<string>('baselines/provider.ts', 'load', {
    tokens: seconds * TOKENS_PER_SECOND,
    everyMs: 1000 / TOKENS_PER_SECOND,
  });
  await using proxy = await startChild<string>('baselines/proxy.ts', 'server', { provider: provider.first });
  await using load = await startChild<string>('load/streams.ts', 'load', null);
  // They share a core with the process that measures the calls of another member, and must not delay it.
  for (const { pid } of [provider, load]) setPriority(pid, 10);
  const parley = await startParley({ databaseUrl, env: { EMBEDDED_MODEL: 'off' } });
  try {
    await connect(parley, provider.first);
    const ours = (streams: number) => contender(load, parley, '/v1/chat/completions', streams, parley.token);
    const baseline = contender(load, { url: proxy.first, pid: proxy.pid }, '/', FEW_STREAMS);
    // Warms the server up until V8 compiles no more.
    for (let n = 0; n < 2; n += 1) await ours(STREAMS).run(true);
    const samples = await alternate(ours(FEW_STREAMS), baseline, quick ? 2 : rounds);
    const perToken = (of: (typeof samples)['ours']) =>
      median(of.map(({ cpuMicros }) => cpuMicros ?? Number.NaN));
    const [mine, bare] = [perToken(samples.ours), perToken(samples.baseline)];
    return [
      {
        ...plainResult(`CPU of a token, OpenAI door, ${FEW_STREAMS} streams`, 'µs', mine, 2 * bare),
        baseline: { what: 'bare proxy', figure: bare },
        ratio: mine / bare,
      },
      ...(await watchOthers(parley, ours(STREAMS), { seconds, rounds: quick ? 1 : rounds })),
    ];
  } finally {
    await parley.stop();
  }
}

let dropped = 0;
let lastBegan = 0;

function contender(
  load: Child<string>,
  { url, pid }: { url: string; pid: number },
  path: string,
  streams: number,
  token = '',
): Contender {
  const task: StreamsTask = {
    url: url + path,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: 'small', messages: [{ role: 'user', content: 'Hello' }], stream: true }),
    streams,
  };
  return {
    pid,
    async run() {
      const streamed = await load.ask<Streamed>(task);
      dropped += streamed.dropped;
      lastBegan = streamed.lastBegan;
      return streamed;
    },
  };
}

/** Makes the provider a connection of the server, for all members. */
async function connect({ asAdministrator, call }: Parley, url: string): Promise<void> {
  const configuration = await asAdministrator<Record<string, Record<string, unknown>>>('GET /configs/export');
  Object.assign(configuration.hosted_model_api ?? {}, {
    enable: true,
    api_base_urls: [url],
    api_keys: ['key'],
  });
  Object.assign(configuration.models ?? {}, { open_provider_models: true });
  await asAdministrator('POST /configs/import', configuration);
  while ((await call<{ data: object[] }>('GET /models')).data.length === 0) await delay(50);
}

/** Makes another member. @returns its token */
async function addMember({ url, asAdministrator }: Parley): Promise<string> {
  const account = {
    name: 'other',
    email: 'other@example.com',
    password: 'correct horse battery',
    role: 'user',
  };
  await asAdministrator('POST /users', account);
  const response = await fetch(`${url}/api/v1/auths/signin`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  });
  return ((await response.json()) as { token: string }).token;
}

/** How long the calls of another member take while the streams run. */
async function watchOthers(
  parley: Parley,
  ours: Contender,
  { seconds, rounds }: { seconds: number; rounds: number },
): Promise<Result[]> {
  const options: WatchOptions = {
    url: parley.url,
    headers: { authorization: `Bearer ${await addMember(parley)}` },
    paths: OTHERS,
  };
  await using watcher = await startChild<string>('load/watch.ts', 'load', options);
  const watch = async (during: number) => {
    const task: WatchTask = { seconds: during, perSecond: PER_SECOND };
    const watched = Object.values(await watcher.ask<Record<string, Watched>>(task));
    return Math.max(...watched.map(({ p99 }) => p99));
  };
  // The rounds before were long, and the connections of 200 streams have closed.
  await Promise.all([watch(seconds), ours.run(true)]);
  dropped = 0;
  const quiets: number[] = [];
  const beginnings: number[] = [];
  const besides: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    quiets.push(await watch(seconds - BEGINNING - 1));
    const running = ours.run(false);
    beginnings.push(await watch(BEGINNING));
    besides.push(await watch(seconds - BEGINNING - 1));
    await running;
  }
  const quiet = median(quiets);
  const compared = (when: string, figure: number): Result => ({
    ...plainResult(`${STREAMS} streams ${when}: calls of another member, p99`, 'ms', figure, 2 * quiet),
    baseline: { what: 'no streams', figure: quiet },
    ratio: figure / quiet,
  });
  return [
    plainResult(`${STREAMS} streams at once: dropped`, 'streams', dropped, 0),
    plainResult(`${STREAMS} streams at once: first token of the last one`, 's', lastBegan),
    compared('that begin', median(beginnings)),
    compared('at once', median(besides)),
  ];
}
