import type { Scope } from '../core/scope.ts';
import { fits, type ModelIds } from './usage.prices.ts';
import { readGroupsOf } from './usage.repository.ts';
import type { Limit } from './usage.terms.ts';

/** A limit for one call in its window. Limits that count the same are one, with the smallest of their amounts. */
export interface Window {
  key: string;
  /** For whom or what it holds, in a sentence: `for you`. */
  whom: string;
  per: Limit['per'];
  /** Unix seconds. */
  starts_at: number;
  ends_at: number;
  most_requests: number | null;
  most_tokens: number | null;
  most_cost: number | null;
}

/** The windows that a call of this model by the caller counts in. @param model undefined: of any model, for the caller's own view */
export async function windowsFor(scope: Scope, model: ModelIds | undefined, now: Date): Promise<Window[]> {
  const limits = scope.configs.current.usage?.limits ?? [];
  if (limits.length === 0) return [];
  const isByGroup = limits.some((limit) => limit.scope === 'group');
  const groups = isByGroup ? await readGroupsOf(scope.sql, scope.actor.id) : [];
  const windows = new Map<string, Window>();
  for (const limit of limits) {
    for (const { subject, whom } of subjectsOf(limit, { user: scope.actor.id, groups, model })) {
      const window = windowOf(limit, { subject, whom, user: scope.actor.id, now });
      windows.set(window.key, merged(windows.get(window.key), window));
    }
  }
  return [...windows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

interface Who {
  user: string;
  groups: readonly string[];
  model: ModelIds | undefined;
}

/** Whom or what a limit counts for this call; nothing when it does not hold. */
function subjectsOf({ scope, id }: Limit, { user, groups, model }: Who): { subject: string; whom: string }[] {
  switch (scope) {
    case 'all':
      return [{ subject: '', whom: 'for all' }];
    case 'user':
      return id === undefined || id === user ? [{ subject: user, whom: 'for you' }] : [];
    case 'group':
      return groups
        .filter((group) => id === undefined || id === group)
        .map((subject) => ({ subject, whom: 'for your group' }));
    case 'model': {
      if (!model) return id === undefined ? [] : [{ subject: id, whom: `for the model ${id}` }];
      const isMeant = id === undefined || fits(id, model.id) || fits(id, model.provider);
      const subject = id ?? model.provider;
      return isMeant ? [{ subject, whom: `for the model ${subject}` }] : [];
    }
  }
}

function windowOf(
  limit: Limit,
  { subject, whom, user, now }: { subject: string; whom: string; user: string; now: Date },
): Window {
  const { scope, per, requests, tokens, cost } = limit;
  const isOwn = limit.each === true && scope !== 'user';
  return {
    key: [scope, subject, per, ...(isOwn ? [user] : [])].join(' '),
    whom: isOwn ? `${whom}, for each account` : whom,
    per,
    ...boundsOf(per, now),
    most_requests: requests ?? null,
    most_tokens: tokens ?? null,
    most_cost: cost ?? null,
  };
}

/** A limit of the configuration in its window of now, with its place in the list. */
export interface PlacedLimit extends Pick<Window, 'starts_at' | 'ends_at'> {
  place: number;
  scope: Limit['scope'];
  /** Null: each account, group or model. */
  id: string | null;
  /** Whether each account has the limit for itself, beside the group or model. */
  is_own: boolean;
  per: Limit['per'];
  most_requests: number | null;
  most_tokens: number | null;
  most_cost: number | null;
}

export const placeLimits = (limits: readonly Limit[], now: Date): PlacedLimit[] =>
  limits.map(({ scope, id = null, each, per, requests = null, tokens = null, cost = null }, place) => ({
    ...{ place, scope, id, per, is_own: each === true && scope !== 'user' },
    ...boundsOf(per, now),
    ...{ most_requests: requests, most_tokens: tokens, most_cost: cost },
  }));

function boundsOf(per: Limit['per'], now: Date): { starts_at: number; ends_at: number } {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const minute = Math.floor(now.getTime() / 60_000);
  const [start, end] = {
    minute: [minute * 60_000, (minute + 1) * 60_000],
    day: [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)],
    month: [Date.UTC(year, month), Date.UTC(year, month + 1)],
  }[per] as [number, number];
  return { starts_at: start / 1000, ends_at: end / 1000 };
}

const smaller = (a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : Math.min(a, b);

const merged = (one: Window | undefined, other: Window): Window =>
  one
    ? {
        ...one,
        most_requests: smaller(one.most_requests, other.most_requests),
        most_tokens: smaller(one.most_tokens, other.most_tokens),
        most_cost: smaller(one.most_cost, other.most_cost),
      }
    : other;
