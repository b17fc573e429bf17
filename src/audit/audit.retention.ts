import { keepSweeping, removeAll } from '../core/sweep.ts';
import { nowSeconds } from '../core/time.ts';
import type { Database } from '../database/sql.ts';
import { pruneEntries } from './audit.repository.ts';

const SWEEP_MS = 3_600_000;
const DAY_SECONDS = 86_400;

/** Deletes old entries of the audit log in the background. @param days how long entries stay; 0: for ever */
export function keepAuditFor(
  days: number,
  { sql, onError }: { sql: Database; onError: (error: unknown) => void },
): { close(): Promise<void> } {
  if (days === 0) return { close: async () => {} };
  const prune = (signal: AbortSignal) => {
    const before = nowSeconds() - days * DAY_SECONDS;
    return removeAll((most) => pruneEntries(sql, before, most), signal);
  };
  return keepSweeping(SWEEP_MS, prune, onError);
}
