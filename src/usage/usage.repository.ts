import { type Database, type Sql, statement } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { groupsOf } from '../groups/groups.policy.ts';

/** One row of `usage_call`. */
export interface RecordedCall {
  id: string;
  created_at: number;
  user_id: string;
  model: string;
  provider_model: string;
  connection: string | null;
  kind: string;
  tokens_in: number;
  tokens_cached: number;
  tokens_out: number;
  is_estimated: boolean;
  cost: number | null;
  first_token_ms: number | null;
  total_ms: number;
  rounds: number;
  outcome: string;
}

/** What a call uses of each of its windows. */
export interface Amounts {
  requests: number;
  tokens: number;
  cost: number;
}

export interface WindowKey {
  key: string;
  starts_at: number;
  ends_at: number;
}

const CALL = `insert into usage_call (id, created_at, user_id, model, provider_model, connection, kind, tokens_in, tokens_cached,
      tokens_out, is_estimated, cost, first_token_ms, total_ms, rounds, outcome)
    select r.* from json_to_record(:call::json) as r (id uuid, created_at int, user_id uuid, model text, provider_model text,
      connection text, kind text, tokens_in int, tokens_cached int, tokens_out int, is_estimated boolean, cost float8,
      first_token_ms float8, total_ms float8, rounds int, outcome text)`;

const RECORD = statement<never, { call: string }>('usage.record', CALL);

const WINDOWS = 'json_to_recordset(:windows::json) as w (key text, starts_at int, ends_at int)';

// Rows of counters are locked in the order of their keys everywhere, so that no two statements wait for each other.
const RESERVE = statement<
  WindowKey & Amounts,
  { windows: string; callId: string; expiresAt: number } & Amounts
>(
  'usage.reserve',
  `with wanted as (select w.* from ${WINDOWS}),
   held as (
     insert into usage_hold as h (call_id, key, starts_at, requests, tokens, cost, expires_at)
       select :callId::uuid, key, starts_at, :requests::bigint, :tokens::bigint, :cost::float8, :expiresAt::int from wanted
       on conflict (call_id, key, starts_at) do update set requests = h.requests + excluded.requests,
         tokens = h.tokens + excluded.tokens, cost = h.cost + excluded.cost)
   insert into usage_counter as c (key, starts_at, ends_at, requests, tokens, cost)
     select key, starts_at, ends_at, :requests::bigint, :tokens::bigint, :cost::float8 from wanted order by key, starts_at
     on conflict (key, starts_at) do update set requests = c.requests + excluded.requests,
       tokens = c.tokens + excluded.tokens, cost = c.cost + excluded.cost
     returning key, starts_at, ends_at, requests::float8 as requests, tokens::float8 as tokens, cost`,
);

const SETTLE = statement<never, { call: string; windows: string; callId: string } & Amounts>(
  'usage.settle',
  `with recorded as (${CALL}),
   released as (delete from usage_hold where call_id = :callId::uuid returning *),
   locked as (
     select c.key, c.starts_at from usage_counter c join ${WINDOWS} on w.key = c.key and w.starts_at = c.starts_at
      order by c.key, c.starts_at for update of c)
   update usage_counter c
      set requests = c.requests + :requests::bigint - coalesce(r.requests, 0),
          tokens = c.tokens + :tokens::bigint - coalesce(r.tokens, 0),
          cost = c.cost + :cost::float8 - coalesce(r.cost, 0)
     from locked l left join released r on r.key = l.key and r.starts_at = l.starts_at
    where c.key = l.key and c.starts_at = l.starts_at`,
);

const RENEW = statement<never, { callIds: string[]; expiresAt: number }>(
  'usage.renew',
  'update usage_hold set expires_at = :expiresAt where call_id = any(:callIds::uuid[])',
);

const GIVE_BACK = statement<never, { now: number }>(
  'usage.give_back',
  `with expired as (delete from usage_hold where expires_at < :now returning *),
   sums as (
     select key, starts_at, sum(requests)::bigint as requests, sum(tokens)::bigint as tokens, sum(cost) as cost
       from expired group by key, starts_at),
   locked as (
     select c.key, c.starts_at from usage_counter c join sums s on s.key = c.key and s.starts_at = c.starts_at
      order by c.key, c.starts_at for update of c)
   update usage_counter c
      set requests = c.requests - s.requests, tokens = c.tokens - s.tokens, cost = c.cost - s.cost
     from locked l join sums s on s.key = l.key and s.starts_at = l.starts_at
    where c.key = l.key and c.starts_at = l.starts_at`,
);

const PRUNE_COUNTERS = statement<never, { before: number }>(
  'usage.prune_counters',
  'delete from usage_counter where ends_at < :before',
);

const PRUNE_CALLS = statement<{ count: number }, { before: number; most: number }>(
  'usage.prune',
  `with old as (select id from usage_call where created_at < :before order by created_at limit :most),
   gone as (delete from usage_call where id in (select id from old) returning 1)
   select count(*)::int as count from gone`,
);

const GROUPS = statement<{ id: string }, { userId: string }>(
  'usage.groups',
  `select distinct group_id as id from (${groupsOf(':userId')}) mine`,
);

const COUNTED = statement<WindowKey & Amounts, { windows: string }>(
  'usage.counted',
  `select c.key, c.starts_at, c.ends_at, c.requests::float8 as requests, c.tokens::float8 as tokens, c.cost
     from usage_counter c join ${WINDOWS} on w.key = c.key and w.starts_at = c.starts_at`,
);

/** Stores a call that no limit counts. */
export const recordCall = (sql: Sql, call: RecordedCall): Promise<unknown> =>
  sql.rows(RECORD, { call: JSON.stringify(call) });

/** Stores a call, and replaces what it has reserved by what it used. */
export const settleCall = (
  sql: Sql,
  call: RecordedCall,
  { windows, used }: { windows: readonly WindowKey[]; used: Amounts },
): Promise<unknown> =>
  sql.rows(SETTLE, {
    call: JSON.stringify(call),
    callId: call.id,
    windows: JSON.stringify(windows),
    ...used,
  });

/**
 * Reserves the same amounts in each window, or, when `check` throws, in none.
 *
 * @param check gets the sums of the windows, these amounts included
 */
export async function reserve(
  sql: Database,
  wanted: { callId: string; expiresAt: number; windows: readonly WindowKey[]; amounts: Amounts },
  check: (counted: (WindowKey & Amounts)[]) => void,
): Promise<void> {
  const { windows, amounts, ...of } = wanted;
  await transaction({ sql }, async (tx) =>
    check(await tx.rows(RESERVE, { ...of, ...amounts, windows: JSON.stringify(windows) })),
  );
}

/** What was used of windows so far; a window without use has no row. */
export const readCounters = (sql: Sql, windows: readonly WindowKey[]): Promise<(WindowKey & Amounts)[]> =>
  sql.rows(COUNTED, { windows: JSON.stringify(windows) });

/** Keeps the reservations of these calls. @param expiresAt Unix seconds */
export const renewHolds = (sql: Sql, callIds: string[], expiresAt: number): Promise<unknown> =>
  sql.rows(RENEW, { callIds, expiresAt });

/** Gives back what calls of ended processes have reserved. @param now Unix seconds */
export const giveBackExpired = (sql: Sql, now: number): Promise<unknown> => sql.rows(GIVE_BACK, { now });

/** @param before Unix seconds */
export const pruneCounters = (sql: Sql, before: number): Promise<unknown> =>
  sql.rows(PRUNE_COUNTERS, { before });

/** Deletes a batch of calls that were made before a moment in Unix seconds. Returns how many there were. */
export async function pruneCalls(sql: Sql, before: number, most: number): Promise<number> {
  const [row] = await sql.rows(PRUNE_CALLS, { before, most });
  return row?.count ?? 0;
}

export async function readGroupsOf(sql: Sql, userId: string): Promise<string[]> {
  return (await sql.rows(GROUPS, { userId })).map(({ id }) => id);
}
