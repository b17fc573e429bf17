import { Histogram } from 'prom-client';
import { v7 as uuidv7 } from 'uuid';
import type { Sql } from '../../database/sql.ts';
import {
  completeRuns,
  pruneRunsBefore,
  pruneRunsOf,
  type Run,
  storeRuns,
  type Taken,
} from './runs.repository.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly toolRuns: RunLog;
  }
}

const durations = new Histogram({
  name: 'parley_tool_call_duration_seconds',
  help: 'Calls of tools by what became of them: ok, cancelled, or the code of the error',
  labelNames: ['outcome'],
  buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
});

const FLUSH_MS = 1_000;
/** Runs in one statement. */
const BATCH = 500;
/** Runs that wait while the database does not answer; beyond that, the oldest are dropped. */
const MOST_WAITING = 20_000;
const DAY_MS = 86_400_000;

export interface RunRetention {
  /** The bound for each tool, shared by its callers. */
  runs: number;
  days: number;
  /** The interval of the removal of surplus runs. */
  pruneMs: number;
}

const RETENTION: RunRetention = { runs: 1_000, days: 30, pruneMs: 60_000 };

export interface RunLog {
  /**
   * Adds a run to an array. The returned function adds its usage, when that is known only after the end of
   * the tool's process.
   */
  record(run: Omit<Run, 'id'>): (taken: Omit<Taken, 'id'>) => void;
  /** Stores the waiting runs. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Collects the runs of tools and stores them outside the calls, several in a statement. */
export function openRunLog(
  sql: Sql,
  onError: (error: unknown) => void,
  kept: RunRetention = RETENTION,
): RunLog {
  let waiting: Run[] = [];
  let completed: Taken[] = [];
  let flushing: Promise<void> | undefined;
  let touched = new Set<string>();
  let prunedAt = performance.now();

  async function storeWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      try {
        await storeRuns(sql, batch);
        for (const { tool_id } of batch) touched.add(tool_id);
      } catch (error) {
        waiting = [...batch, ...waiting].slice(-MOST_WAITING);
        throw error;
      }
    }
    while (completed.length > 0) {
      const batch = completed.splice(0, BATCH);
      try {
        await completeRuns(sql, batch);
      } catch (error) {
        completed = [...batch, ...completed].slice(-MOST_WAITING);
        throw error;
      }
    }
    if (performance.now() - prunedAt < kept.pruneMs || touched.size === 0) return;
    prunedAt = performance.now();
    const tools = [...touched];
    touched = new Set();
    await pruneRunsOf(sql, tools, kept.runs);
    const oldest = Date.now() - kept.days * DAY_MS;
    await pruneRunsBefore(sql, uuidv7({ msecs: oldest, random: new Uint8Array(16) }));
  }

  async function flush(): Promise<void> {
    // The same loop stores runs that are recorded during a statement.
    flushing ??= storeWaiting()
      .catch(onError)
      .finally(() => {
        flushing = undefined;
      });
    await flushing;
  }

  const timer = setInterval(() => {
    if (waiting.length + completed.length > 0) void flush();
  }, FLUSH_MS).unref();

  return {
    record(run) {
      durations.observe({ outcome: run.outcome }, run.duration_ms / 1000);
      const noted = { id: uuidv7(), ...run };
      waiting.push(noted);
      if (waiting.length > MOST_WAITING) waiting.shift();
      return (taken) => {
        if (waiting.includes(noted)) Object.assign(noted, taken);
        else completed.push({ id: noted.id, ...taken });
      };
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
