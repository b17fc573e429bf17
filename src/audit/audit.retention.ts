import { setTimeout as pause } from 'node:timers/promises';
import { nowSeconds } from '../core/time.ts';
import type { Database } from '../database/sql.ts';
import { pruneEntries } from './audit.repository.ts';

const SWEEP_MS = 3_600_000;
const BATCH = 1000;
/** Leaves the database to others between batches. */
const BREATH_MS = 50;
const DAY_SECONDS = 86_400;

/** Keeps the audit log as long as it should be, in the background. @param days 0: for ever */
export function keepAuditFor(
  days: number,
  { sql, onError }: { sql: Database; onError: (error: unknown) => void },
): { close(): Promise<void> } {
  if (days === 0) return { close: async () => {} };
  const stop = new AbortController();
  const prune = async () => {
    const before = nowSeconds() - days * DAY_SECONDS;
    while (!stop.signal.aborted && (await pruneEntries(sql, before, BATCH)) === BATCH) {
      await pause(BREATH_MS, undefined, { ref: false });
    }
  };
  let running = Promise.resolve();
  const sweep = () => {
    running = running.then(prune).catch(onError);
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
