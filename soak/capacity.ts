import { moveTo } from '../bench/support/child.ts';
import { cpuSeconds } from '../bench/support/processes.ts';
import { startWorker } from './load/start.ts';
import type { Figures, WorkerOptions, WorkerTask } from './load/worker.ts';
import { type Installation, startInstallation } from './setup/installation.ts';
import { seeded } from './setup/random.ts';
import { makeStage } from './setup/stage.ts';

export const LIMITS_MS = { post: 200, page: 500 };
/** The goal for one core. */
export const GOAL = 2_000;

export interface Step {
  people: number;
  figures: Figures;
  /** CPU seconds a second of servers, PostgreSQL and Redis together. */
  cores: number;
  coresOf: Record<string, number>;
  isMet: boolean;
}

export interface Capacity {
  steps: Step[];
  /** The largest step within the limits; 0 without one. */
  held: number;
  /** Extrapolated: how many people would take one whole core, from the CPU time of the largest step within the limits. */
  perCore: number;
}

export interface CapacityOptions {
  seed: number;
  /** The first step; each further one has twice as many. */
  first: number;
  most: number;
  secondsOfStep: number;
}

const WARM_UP_SECONDS = 3;

/** Lets more and more people in, without faults, until two steps have passed the limits. */
export async function measureCapacity(
  { seed, first, most, secondsOfStep }: CapacityOptions,
  closers: (() => Promise<void>)[],
): Promise<Capacity> {
  const installation = await startInstallation({ withFaults: false, withTools: false });
  closers.push(installation.stop);
  const all = () => Object.values(installation.pids()).flat();
  // As in the bench: the server with all it needs on one core, the clients on another.
  moveTo('server', all());
  const { people, channels } = await makeStage(installation, {
    people: most,
    random: seeded(seed),
    withTools: false,
  });
  const options: WorkerOptions = {
    ...{ urls: installation.urls, people, seed, pace: 1, mix: 'usual', withTools: false },
    heads: Object.fromEntries(channels.map(({ id }) => [id, 0])),
  };
  const worker = await startWorker(options);
  closers.push(worker.stop);
  const ask = <Result>(task: WorkerTask) => worker.ask<Result>(task);

  const steps: Step[] = [];
  for (let count = first; count <= most; count *= 2) {
    await ask({ do: 'enter', people: count });
    await ask({ do: 'act' });
    // The first step has few posts. One of them that runs code before its compilation would be the p99.
    await ask({ do: 'measure', seconds: count === first ? secondsOfStep : WARM_UP_SECONDS });
    const before = cpuOf(installation);
    const figures = await ask<Figures>({ do: 'measure', seconds: secondsOfStep });
    const seconds = spent(before, cpuOf(installation));
    const coresOf = Object.fromEntries(
      Object.entries(seconds).map(([part, ofPart]) => [part, ofPart / secondsOfStep]),
    );
    const cores = Object.values(coresOf).reduce((sum, part) => sum + part, 0);
    const isMet = figures.post.p99 <= LIMITS_MS.post && figures.page.p99 <= LIMITS_MS.page;
    steps.push({ people: count, figures, cores, coresOf, isMet });
    // A disk may stall once in a step, so one step beyond the limits does not end the load.
    if (!isMet && steps.at(-2)?.isMet === false) break;
  }
  const best = steps.findLast((step) => step.isMet);
  return { steps, held: best?.people ?? 0, perCore: best ? Math.floor(best.people / best.cores) : 0 };
}

/** CPU seconds so far of each process, by part. */
function cpuOf({ pids }: Installation): Map<string, Map<number, number>> {
  const { tools: _, ...parts } = pids();
  return new Map(
    Object.entries(parts).map(([part, list]) => [part, new Map(list.map((pid) => [pid, cpuOfLive(pid)]))]),
  );
}

/** The CPU seconds of each part between two moments. Processes that ended in between do not count. */
function spent(before: ReturnType<typeof cpuOf>, after: ReturnType<typeof cpuOf>): Record<string, number> {
  const spentBy = (part: string, pids: Map<number, number>) =>
    [...pids].reduce((sum, [pid, seconds]) => sum + seconds - (before.get(part)?.get(pid) ?? 0), 0);
  return Object.fromEntries([...after].map(([part, pids]) => [part, spentBy(part, pids)]));
}

function cpuOfLive(pid: number): number {
  try {
    return cpuSeconds(pid);
  } catch {
    return 0;
  }
}
