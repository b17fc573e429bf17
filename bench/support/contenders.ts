import type { HttpLoad, HttpLoadResult } from '../load/http.ts';
import type { Result } from './report.ts';
import { alternate, type Contender, median } from './rounds.ts';
import { CONNECTIONS, type Workspace } from './workspace.ts';

/** V8 needs some 30,000 calls until it compiles no more: a whole server gets fewer in a second than a bare one. */
const WARM_UP_SECONDS = 10;

/** A server under an HTTP load. */
export function httpContender(
  { http, seconds }: Workspace,
  server: { url: string; pid: number },
  load: Pick<HttpLoad, 'paths'> & Partial<HttpLoad>,
): Contender {
  const task: HttpLoad = {
    url: server.url,
    method: 'GET',
    headers: {},
    connections: CONNECTIONS,
    seconds,
    ...load,
  };
  return {
    pid: server.pid,
    run: (isWarmUp) => http.ask<HttpLoadResult>(isWarmUp ? { ...task, seconds: WARM_UP_SECONDS } : task),
  };
}

/**
 * Measures throughput against a baseline. The ratio is the median over the rounds; the two of a pair are
 * measured right after each other.
 */
export async function compare(options: {
  what: string;
  unit?: string;
  ours: Contender;
  baseline: Contender;
  against: string;
  /** The required minimum of the ratio. */
  atLeast?: number;
  rounds: number;
}): Promise<Result> {
  const { what, unit = '/s', against, atLeast, rounds } = options;
  const samples = await alternate(options.ours, options.baseline, rounds);
  const pairs = samples.ours.map((ours, round) => ours.rate / (samples.baseline[round]?.rate ?? Number.NaN));
  return {
    what,
    unit,
    ours: median(samples.ours.map(({ rate }) => rate)),
    baseline: { what: against, figure: median(samples.baseline.map(({ rate }) => rate)) },
    ratio: median(pairs),
    target: atLeast === undefined ? null : { ratioAtLeast: atLeast },
    samples,
  };
}
