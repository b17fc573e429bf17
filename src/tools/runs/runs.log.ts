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
/** As many are stored in one statement. */
const BATCH = 500;
/** As many wait when the database does not answer; then the oldest go. */
const MOST_WAITING = 20_000;
const DAY_MS = 86_400_000;

export interface RunRetention {
  /** Of each tool; its callers share them. */
  runs: number;
  days: number;
  /** How often what is too much is removed. */
  pruneMs: number;
}

const RETENTION: RunRetention = { runs: 1_000, days: 30, pruneMs: 60_000 };

export interface RunLog {
  /**
   * Notes a run; costs little more than an array's place. The returned function adds what it took, where that is known only when the
   * process of the tool has ended.
   */
  record(run: Omit<Run, 'id'>): (taken: Omit<Taken, 'id'>) => void;
  /** Stores what waits. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Collects the runs of tools and stores them off the path of the calls, several in a statement. */
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
    // What is noted while a statement runs is stored by the same loop.
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
