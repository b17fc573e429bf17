import { cpuSeconds } from './processes.ts';

/** One measurement of one contender. */
export interface Sample {
  /** Operations per second. */
  rate: number;
  /**
   * CPU time of the Node process for one operation in microseconds, without its database; null when unknown.
   */
  cpuMicros: number | null;
  /** Share of the time in which its core ran that process. */
  busy: number | null;
}

export interface Contender {
  /** The process whose CPU time counts. */
  pid: number | null;
  /** Runs once and returns the number of operations and seconds. */
  run(isWarmUp: boolean): Promise<{ operations: number; seconds: number }>;
}

async function measure({ pid, run }: Contender, isWarmUp = false): Promise<Sample> {
  const before = pid === null ? 0 : cpuSeconds(pid);
  const { operations, seconds } = await run(isWarmUp);
  const cpu = pid === null ? 0 : cpuSeconds(pid) - before;
  return {
    rate: operations / seconds,
    cpuMicros: cpu > 0 ? (cpu / operations) * 1e6 : null,
    busy: cpu > 0 ? cpu / seconds : null,
  };
}

/**
 * Runs ours and the baseline in turn, round after round, both warmed up before, and every other round in
 * reverse order, so that a change in the speed of the machine affects both alike.
 */
export async function alternate(
  ours: Contender,
  baseline: Contender,
  rounds: number,
): Promise<{ ours: Sample[]; baseline: Sample[] }> {
  const samples = { ours: [] as Sample[], baseline: [] as Sample[] };
  const runOurs = async () => samples.ours.push(await measure(ours));
  const runBaseline = async () => samples.baseline.push(await measure(baseline));
  await measure(ours, true);
  await measure(baseline, true);
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [runOurs, runBaseline] : [runBaseline, runOurs];
    for (const run of order) await run();
  }
  return samples;
}

export function quantile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
