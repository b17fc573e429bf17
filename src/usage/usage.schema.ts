import { z } from 'zod';
import { id, LIMITS, name, seconds } from '../core/wire.ts';

const day = () => z.iso.date('must be a day such as 2026-11-23');

/** What a day is split by, besides the days themselves. */
const GROUPINGS = ['none', 'user', 'model', 'connection', 'kind'] as const;

export const ownQuery = z.object({
  first: day().optional(),
  last: day().optional(),
  by: z.enum(['none', 'model', 'connection', 'kind']).default('model'),
  model: name().optional(),
  skip: z.int().min(0).default(0),
  limit: z.int().min(1).max(LIMITS.pageSize).default(50),
});
export type OwnQuery = z.infer<typeof ownQuery>;

export const usageQuery = ownQuery.extend({
  by: z.enum(GROUPINGS).default('model'),
  user_id: id().optional(),
});
export type UsageQuery = z.infer<typeof usageQuery>;

export const UsageSum = z
  .object({
    /** In UTC. */
    day: z.string(),
    /** The account, model, connection or kind of calls; null for `by=none`, and for calls that no connection answered. */
    key: z.string().nullable(),
    /** The name of the account, with `by=user`; null for a deleted one. */
    name: z.string().nullable(),
    calls: z.int(),
    /** Those that ended with an error. */
    failed: z.int(),
    tokens_in: z.int(),
    /** Those of `tokens_in` that providers had cached. */
    tokens_cached: z.int(),
    tokens_out: z.int(),
    /** By `usage.prices`; models without a price are left out. */
    cost: z.number(),
  })
  .meta({ id: 'UsageSum' });
export type UsageSum = z.infer<typeof UsageSum>;

const PER = ['minute', 'day', 'month'] as const;
const part = z.object({ most: z.number(), used: z.number(), remaining: z.number() }).nullable();

export const UsageLimit = z
  .object({
    /** `for you`, `for your group`, `for the model …`, `for all`. */
    whom: z.string(),
    per: z.enum(PER),
    /** Null where the limit sets none. */
    requests: part,
    tokens: part,
    cost: part,
    /** When the window ends. */
    resets_at: seconds(),
  })
  .meta({ id: 'UsageLimit' });
export type UsageLimit = z.infer<typeof UsageLimit>;

export const budgetsQuery = z.object({
  skip: z.int().min(0).default(0),
  limit: z.int().min(1).max(LIMITS.pageSize).default(50),
});
export type BudgetsQuery = z.infer<typeof budgetsQuery>;

export const UsageBudget = z
  .object({
    /** The place of the limit in `usage.limits`, from 0. */
    place: z.int(),
    scope: z.enum(['user', 'group', 'model', 'all']),
    per: z.enum(PER),
    /** The group or model; null for limits of accounts and of all. */
    subject: z.string().nullable(),
    /** The name of the group; null for a deleted one and for others. */
    subject_name: z.string().nullable(),
    /** The account; null where accounts share the limit. */
    user_id: z.string().nullable(),
    /** Null for a deleted account. */
    user_name: z.string().nullable(),
    /** Null where the limit sets none. */
    requests: part,
    tokens: part,
    cost: part,
    /** When the window ends. */
    resets_at: seconds(),
  })
  .meta({ id: 'UsageBudget' });
export type UsageBudget = z.infer<typeof UsageBudget>;
