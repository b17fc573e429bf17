import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from '../database/sql.ts';
import { toNanoseconds } from './events.cursor.ts';
import { pruneEvents, readClock } from './events.repository.ts';

const SWEEP_MS = 10 * 60_000;
/** Small enough that a post never waits long for a batch. */
const BATCH = 1000;
/** Leaves the database to others between batches. */
const BREATH_MS = 50;
const DAY_MICROS = 24 * 3600 * 1_000_000;

/** Takes events out of the log that are older than a number of days. */
export async function pruneOldEvents(sql: Sql, days: number, signal?: AbortSignal): Promise<void> {
  const before = toNanoseconds((await readClock(sql)) - Math.round(days * DAY_MICROS));
  while (!signal?.aborted && (await pruneEvents(sql, before, BATCH)) === BATCH) {
    await pause(BREATH_MS, undefined, { ref: false });
  }
}

/** Keeps the event log as long as it should be, in the background. @param days 0: for ever */
export function keepEventsFor(
  days: number,
  { sql, onError }: { sql: Sql; onError: (error: unknown) => void },
): { close(): Promise<void> } {
  if (days === 0) return { close: async () => {} };
  const stop = new AbortController();
  let running = Promise.resolve();
  const sweep = () => {
    running = running.then(() => pruneOldEvents(sql, days, stop.signal)).catch(onError);
  };
  sweep();
  const timer = setInterval(sweep, SWEEP_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      stop.abort();
      await running;
    },
  };
}
