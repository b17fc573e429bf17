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
   * Adds a run to those that wait to be stored. The returned function adds its usage, which is known only
   * after the end of the tool's process.
   */
  record(run: Omit<Run, 'id'>): (taken: Omit<Taken, 'id'>) => void;
  /** Stores the waiting runs. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Collects the runs of tools and stores them outside the calls, several in a statement. */
export const openRunLog = (
  sql: Sql,
  onError: (error: unknown) => void,
  retention: RunRetention = RETENTION,
): RunLog => new Collector(sql, onError, retention);

class Collector implements RunLog {
  readonly #sql: Sql;
  readonly #onError: (error: unknown) => void;
  readonly #retention: RunRetention;
  #waiting: Run[] = [];
  #completed: Taken[] = [];
  #flushing: Promise<void> | undefined;
  /** Tools with new runs since the last removal of surplus runs. */
  #touched = new Set<string>();
  #prunedAt = performance.now();
  readonly #timer = setInterval(() => {
    if (this.#waiting.length + this.#completed.length > 0) void this.flush();
  }, FLUSH_MS).unref();

  constructor(sql: Sql, onError: (error: unknown) => void, retention: RunRetention) {
    this.#sql = sql;
    this.#onError = onError;
    this.#retention = retention;
  }

  record(run: Omit<Run, 'id'>): (taken: Omit<Taken, 'id'>) => void {
    durations.observe({ outcome: run.outcome }, run.duration_ms / 1000);
    const noted = { id: uuidv7(), ...run };
    this.#waiting.push(noted);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
    return (taken) => {
      if (this.#waiting.includes(noted)) Object.assign(noted, taken);
      else this.#completed.push({ id: noted.id, ...taken });
    };
  }

  async flush(): Promise<void> {
    // The same loop stores runs that are recorded during a statement.
    this.#flushing ??= this.#store()
      .catch(this.#onError)
      .finally(() => {
        this.#flushing = undefined;
      });
    await this.#flushing;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  async #store(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, BATCH);
      try {
        await storeRuns(this.#sql, batch);
        for (const { tool_id } of batch) this.#touched.add(tool_id);
      } catch (error) {
        this.#waiting = [...batch, ...this.#waiting].slice(-MOST_WAITING);
        throw error;
      }
    }
    while (this.#completed.length > 0) {
      const batch = this.#completed.splice(0, BATCH);
      try {
        await completeRuns(this.#sql, batch);
      } catch (error) {
        this.#completed = [...batch, ...this.#completed].slice(-MOST_WAITING);
        throw error;
      }
    }
    await this.#prune();
  }

  async #prune(): Promise<void> {
    const { runs, days, pruneMs } = this.#retention;
    if (performance.now() - this.#prunedAt < pruneMs || this.#touched.size === 0) return;
    this.#prunedAt = performance.now();
    const tools = [...this.#touched];
    this.#touched = new Set();
    await pruneRunsOf(this.#sql, tools, runs);
    const oldest = Date.now() - days * DAY_MS;
    await pruneRunsBefore(this.#sql, uuidv7({ msecs: oldest, random: new Uint8Array(16) }));
  }
}
