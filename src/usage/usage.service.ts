import { invalid } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { placeLimits, windowsFor } from './usage.limits.ts';
import { type Amounts, readCounters } from './usage.repository.ts';
import type {
  BudgetsQuery,
  OwnQuery,
  UsageBudget,
  UsageLimit,
  UsageQuery,
  UsageSum,
} from './usage.schema.ts';
import { readBudgets, readSums } from './usage.views.repository.ts';

const DAY_MS = 86_400_000;
const DAYS = 30;

/** Sums of all calls by day. */
export async function listUsage(scope: Scope, query: UsageQuery): Promise<{ items: UsageSum[] }> {
  const { by, user_id, model, skip, limit } = query;
  const last = query.last ? Date.parse(query.last) : Math.floor(Date.now() / DAY_MS) * DAY_MS;
  const first = query.first ? Date.parse(query.first) : last - DAYS * DAY_MS;
  if (first > last) throw invalid('first', 'must not be after the last day');
  return {
    items: await readSums(scope.sql, {
      from: first / 1000,
      before: (last + DAY_MS) / 1000,
      userId: user_id ?? null,
      model: model ?? null,
      by,
      skip,
      limit,
    }),
  };
}

/** The same for the calls of the caller. */
export const listOwnUsage = (scope: Scope, query: OwnQuery): Promise<{ items: UsageSum[] }> =>
  listUsage(scope, { ...query, user_id: scope.actor.id });

/** The limits that hold for the caller, and what remains of them. */
export async function listOwnLimits(scope: Scope): Promise<{ items: UsageLimit[] }> {
  const windows = await windowsFor(scope, undefined, new Date());
  const counted = windows.length > 0 ? await readCounters(scope.sql, windows) : [];
  const items = windows.map((window): UsageLimit => {
    const sums = counted.find(({ key }) => key === window.key);
    const part = (kind: keyof Amounts) => partOf(window[`most_${kind}`], sums?.[kind] ?? 0);
    return {
      whom: window.whom,
      per: window.per,
      requests: part('requests'),
      tokens: part('tokens'),
      cost: part('cost'),
      resets_at: window.ends_at,
    };
  });
  return { items };
}

/** The use of all limits in their windows of now. */
export async function listBudgets(scope: Scope, page: BudgetsQuery): Promise<{ items: UsageBudget[] }> {
  const limits = placeLimits(scope.configs.current.usage?.limits ?? [], new Date());
  if (limits.length === 0) return { items: [] };
  const rows = await readBudgets(scope.sql, limits, page);
  return {
    items: rows.map(({ most_requests, most_tokens, most_cost, ...used }) => ({
      ...used,
      requests: partOf(most_requests, used.requests),
      tokens: partOf(most_tokens, used.tokens),
      cost: partOf(most_cost, used.cost),
    })),
  };
}

const partOf = (most: number | null, used: number) =>
  most === null ? null : { most, used: rounded(used), remaining: rounded(Math.max(0, most - used)) };

/** Sums of costs have the errors of binary fractions. */
const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;
