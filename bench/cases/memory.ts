import { setTimeout as delay } from 'node:timers/promises';
import { type Server, startServer } from '../support/parley.ts';
import { descendants, hasProc, residentMemory, sharedMemory } from '../support/processes.ts';
import { plainResult, type Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';

/** The idle time after which a started server counts as at rest. */
const REST_MS = 5000;

/**
 * Measures the memory of each part: of a new server without calls, and of the server that carried all the
 * load so far.
 */
export async function memory({ parley: loaded, cluster }: Workspace): Promise<Result[]> {
  if (!hasProc) return [];
  const resting = await startServer();
  try {
    await resting.untilReady();
    await delay(REST_MS);
    return [
      figure('Node at rest', residentMemory(resting.pid).now, 160),
      figure('PostgreSQL at rest', sharedMemory(familyOf(resting, 'postgres'))),
      figure('Python at rest', sharedMemory(familyOf(resting, 'python'))),
      figure('Node after the load', residentMemory(loaded.pid).now),
      figure('Node at the peak of the load', residentMemory(loaded.pid).peak),
      figure('PostgreSQL after the load', sharedMemory(cluster.pids())),
      figure('Python after the load', sharedMemory(familyOf(loaded, 'python'))),
    ];
  } finally {
    await resting.stop();
  }
}

const familyOf = ({ pid }: Server, name: string): number[] =>
  descendants(pid)
    .filter((child) => child.name.startsWith(name))
    .map((child) => child.pid);

const figure = (what: string, ours: number, atMost?: number): Result =>
  plainResult(`memory: ${what}`, 'MB', ours, atMost);
