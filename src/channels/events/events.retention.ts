import { keepSweeping, removeAll } from '../../core/sweep.ts';
import type { Sql } from '../../database/sql.ts';
import { toNanoseconds } from '../../events/cursor.ts';
import { pruneEvents, readClock } from './events.repository.ts';

const SWEEP_MS = 10 * 60_000;
const DAY_MICROS = 24 * 3600 * 1_000_000;

/** Deletes the events that are older than a number of days. */
export async function pruneOldEvents(sql: Sql, days: number, signal?: AbortSignal): Promise<void> {
  const before = toNanoseconds((await readClock(sql)) - Math.round(days * DAY_MICROS));
  await removeAll((most) => pruneEvents(sql, before, most), signal);
}

/** Deletes old events in the background. @param days 0 keeps all events */
export function keepEventsFor(
  days: number,
  { sql, onError }: { sql: Sql; onError: (error: unknown) => void },
): { close(): Promise<void> } {
  if (days === 0) return { close: async () => {} };
  return keepSweeping(SWEEP_MS, (signal) => pruneOldEvents(sql, days, signal), onError);
}
