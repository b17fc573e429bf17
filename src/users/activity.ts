import { nowSeconds } from '../core/time.ts';
import type { Sql } from '../database/sql.ts';
import { storeLastSeen } from './users.repository.ts';

const FLUSH_MS = 30_000;

export interface Activity {
  /** Notes that a user's credential was just accepted; costs a set insertion. */
  seen(userId: string): void;
  close(): Promise<void>;
}

/** Collects who was active and stores it in one statement now and then, instead of one write per request. */
export function trackActivity(sql: Sql, onError: (error: unknown) => void): Activity {
  let active = new Set<string>();

  async function flush() {
    if (active.size === 0) return;
    const users = [...active];
    active = new Set();
    await storeLastSeen(sql, users, nowSeconds()).catch(onError);
  }

  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();
  return {
    seen: (userId) => void active.add(userId),
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
