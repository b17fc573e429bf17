import type { Ended } from '../host.spawned.ts';
import type { Limits } from '../limits.ts';

/** The ending of a process that the server stopped. The reason continues a sentence after "because". */
export function stopped(reason: string): string {
  return `The process of the tool was stopped because ${reason}.`;
}

/** The limits for which the fork server ends a tool and all processes that the tool started. */
const EXCESSES: Record<NonNullable<Ended['exceeded']>, (limits: Limits) => string> = {
  memory: ({ memoryBytes }) =>
    `it took more than ${memoryBytes >> 20} MiB of memory with all that it had started`,
  processes: ({ tasksPerTool }) => `it had started more than ${tasksPerTool} processes`,
  files: ({ scratchFiles }) =>
    `it had more than ${scratchFiles} files, or folders too deep or closed to be counted`,
  bytes: ({ scratchBytes }) => `its files took more than ${scratchBytes >> 20} MiB`,
  room: () => 'it wrote, or may have, while there was little room left for the files of all tools',
  cpu: ({ cpuSeconds }) =>
    `it used more than ${cpuSeconds} s of processor time since its latest call with all that it had started`,
  uncounted: () => 'what it takes could not be counted',
};

/** How a process ended, as the text after a colon. */
export function describeEnd({ code, signal, exceeded }: Ended, limits: Limits): string {
  if (code === null && signal === null) return 'the Python host had to start anew; try again';
  if (exceeded) return EXCESSES[exceeded](limits);
  if (signal === 'SIGKILL') return 'it was killed, probably for want of memory';
  if (signal === 'SIGXCPU') return 'it used up its CPU time';
  return signal ? `it crashed (${signal})` : `exit status ${code}`;
}
