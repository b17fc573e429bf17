import { keepSweeping, removeAll } from '../core/sweep.ts';
import { nowSeconds } from '../core/time.ts';
import type { Base } from '../noun.ts';
import { HOLD_SECONDS } from './usage.calls.ts';
import { giveBackExpired, pruneCalls, pruneCounters, renewHolds } from './usage.repository.ts';

const RENEW_MS = 60_000;
const PRUNE_MS = 3_600_000;
const DAY_SECONDS = 86_400;
/** How long a counter stays after its window: the clocks of processes differ. */
const COUNTER_SECONDS = 600;

/** Renews the reservations of running calls, gives back those of ended processes, and removes old rows. */
export function startUsage({ env, sql, configs, warn }: Base) {
  const held = new Set<string>();
  const renewing = keepSweeping(
    RENEW_MS,
    async () => {
      if (held.size > 0) await renewHolds(sql, [...held], nowSeconds() + HOLD_SECONDS);
      if ((configs.current.usage?.limits.length ?? 0) > 0) await giveBackExpired(sql, nowSeconds());
    },
    warn('Reservations of budgets could not be renewed.'),
  );
  const pruning = keepSweeping(
    PRUNE_MS,
    async (signal) => {
      await pruneCounters(sql, nowSeconds() - COUNTER_SECONDS);
      if (env.USAGE_RETENTION_DAYS === 0) return;
      const before = nowSeconds() - env.USAGE_RETENTION_DAYS * DAY_SECONDS;
      await removeAll((most) => pruneCalls(sql, before, most), signal);
    },
    warn('Old records of the use of models could not be removed.'),
  );
  return {
    parts: { usage: { held } },
    async close() {
      await renewing.close();
      await pruning.close();
    },
  };
}
