import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** True where Linux describes processes under `/proc`, which the memory cases and the CPU figures need. */
export const hasProc = process.platform === 'linux';

const stat = (pid: number | string): string[] => {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may contain spaces.
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
};

const ticksPerSecond = hasProc ? Number(execFileSync('getconf', ['CLK_TCK'])) : 1;

/** The CPU time of a process so far, in seconds; 0 where the system does not report it. */
export function cpuSeconds(pid: number): number {
  if (!hasProc) return 0;
  const fields = stat(pid);
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** A figure of such a file in MB; a kB of the kernel is 1,024 bytes. */
const megabytes = (text: string, name: string): number =>
  (Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024) / 1e6;

/** Resident memory of one process now and at its peak, in MB. */
export function residentMemory(pid: number): { now: number; peak: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  return { now: megabytes(text, 'VmRSS'), peak: megabytes(text, 'VmHWM') };
}

/** The file where a process notes its answer to a signal. */
export const noteFileOf = (pid: number): string => join(tmpdir(), `parley-bench-heap-${pid}`);

/** The answer of a process that answers signals (`signalSide.ts`). */
async function askBySignal<Answer>(pid: number): Promise<Answer> {
  const path = noteFileOf(pid);
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(path)) await delay(50);
  const answer = JSON.parse(readFileSync(path, 'utf8')) as Answer;
  rmSync(path);
  return answer;
}

/**
 * The memory that a process with `collectOnSignal.ts` needs, in bytes: its heap after a collection, and
 * external memory of its objects.
 */
export const collectedHeap = (pid: number): Promise<number> => askBySignal(pid);

/** How many milliseconds the event loop of a process with `delayOnSignal.ts` was late since the last call. */
export const loopDelay = (pid: number): Promise<{ p99: number; max: number }> => askBySignal(pid);

export interface Process {
  pid: number;
  name: string;
}

/** All descendants of a process; none where the system does not report them. */
export function descendants(pid: number): Process[] {
  if (!hasProc) return [];
  const parents = new Map<number, Process[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const parent = Number(stat(entry)[1]);
      const name = readFileSync(`/proc/${entry}/comm`, 'utf8').trim();
      parents.set(parent, [...(parents.get(parent) ?? []), { pid: Number(entry), name }]);
    } catch {
      // The process ended after it was listed.
    }
  }
  const below = (of: number): Process[] =>
    (parents.get(of) ?? []).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
}

/** The memory that a process shares with no other, in MB; 0 where only root may read it. */
export function privateMemory(pid: number): number {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    return megabytes(text, 'Private_Clean') + megabytes(text, 'Private_Dirty');
  } catch {
    return 0;
  }
}

/** The memory of several processes together in MB; shared pages count once (PSS). */
export function sharedMemory(pids: number[]): number {
  const sizes = pids.map((pid) => {
    try {
      return megabytes(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss');
    } catch {
      return 0;
    }
  });
  return sizes.reduce((sum, size) => sum + size, 0);
}
