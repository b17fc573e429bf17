import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { childOptions, ready } from '../support/childSide.ts';
import { quantile } from '../support/rounds.ts';

export interface WatchOptions {
  url: string;
  headers: Record<string, string>;
  paths: string[];
}

export interface WatchTask {
  seconds: number;
  /** Calls to each path in a second. */
  perSecond: number;
}

export interface Watched {
  calls: number;
  p50: number;
  p99: number;
  /** The number of answers other than 200, by status; 0 means no answer. */
  failed: Record<string, number>;
}

const { url, headers, paths } = childOptions<WatchOptions>();
const agent = new Agent({ keepAlive: true });
const PATIENCE_MS = 60_000;

/** The status of one call; 0 without an answer. */
function call(path: string): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(`${url}${path}`, { headers, agent, timeout: PATIENCE_MS }, (response) => {
      response
        .resume()
        .on('end', () => resolve(response.statusCode ?? 0))
        .on('error', () => resolve(0));
    });
    sent
      .on('timeout', () => sent.destroy())
      .on('error', () => resolve(0))
      .end();
  });
}

/**
 * Makes calls at their times without waiting for earlier ones, so a server that stalls does not hide the
 * wait.
 */
async function run({ seconds, perSecond }: WatchTask): Promise<Record<string, Watched>> {
  const times = new Map(paths.map((path) => [path, [] as number[]]));
  const failed = new Map(paths.map((path) => [path, {} as Record<string, number>]));
  const calls: Promise<void>[] = [];
  const began = performance.now();
  for (let made = 0; made < seconds * perSecond; made += 1) {
    const due = began + (made / perSecond) * 1000;
    await delay(Math.max(0, due - performance.now()));
    for (const path of paths) {
      const answered = call(path).then((status) => {
        times.get(path)?.push(performance.now() - due);
        const counts = failed.get(path);
        if (status !== 200 && counts) counts[status] = (counts[status] ?? 0) + 1;
      });
      calls.push(answered);
    }
  }
  await Promise.all(calls);
  return Object.fromEntries(
    [...times].map(([path, taken]) => [
      path,
      {
        calls: taken.length,
        p50: quantile(taken, 0.5),
        p99: quantile(taken, 0.99),
        failed: failed.get(path) ?? {},
      },
    ]),
  );
}

ready<WatchTask>('ready', run);
