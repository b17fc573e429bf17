import { onReplica, type Sql, statement } from '../database/sql.ts';
import type { PlacedLimit } from './usage.limits.ts';
import type { Amounts } from './usage.repository.ts';
import type { UsageBudget, UsageSum } from './usage.schema.ts';

/** Null for all, where a member may be null. */
export interface SumFilter {
  /** Unix seconds. */
  from: number;
  before: number;
  userId: string | null;
  model: string | null;
  by: string;
  skip: number;
  limit: number;
}

const SUMS = onReplica(
  statement<UsageSum, SumFilter>(
    'usage.sums',
    `with sums as (
     select to_char(to_timestamp(created_at) at time zone 'UTC', 'YYYY-MM-DD') as day,
         case :by::text when 'user' then user_id::text when 'model' then model when 'connection' then connection
           when 'kind' then kind end as key,
         count(*)::int as calls, (count(*) filter (where outcome not in ('ok', 'cancelled')))::int as failed,
         sum(tokens_in)::float8 as tokens_in, sum(tokens_cached)::float8 as tokens_cached,
         sum(tokens_out)::float8 as tokens_out, round(coalesce(sum(cost), 0)::numeric, 6)::float8 as cost
       from usage_call
      where created_at >= :from and created_at < :before
        and (:userId::uuid is null or user_id = :userId::uuid) and (:model::text is null or model = :model::text)
      group by 1, 2)
   select s.day, s.key, u.name, s.calls, s.failed, s.tokens_in, s.tokens_cached, s.tokens_out, s.cost
     from sums s left join users u on :by::text = 'user' and u.id::text = s.key
    order by s.day desc, s.cost desc, s.tokens_in + s.tokens_out desc, s.key offset :skip limit :limit`,
  ),
);

/** Sums of calls by day, the last day first. */
export const readSums = (sql: Sql, filter: SumFilter): Promise<UsageSum[]> => sql.rows(SUMS, filter);

/** What was used of a limit in its window. */
export type UsedBudget = Omit<UsageBudget, keyof Amounts> &
  Amounts &
  Record<`most_${keyof Amounts}`, number | null>;

// A counter's key is that of `windowOf`: the scope, the subject, the length of the window, and the account where each has its own.
const BUDGETS = statement<UsedBudget, { limits: string; skip: number; limit: number }>(
  'usage.budgets',
  `with placed as (
     select * from json_to_recordset(:limits::json) as l (place int, scope text, id text, is_own boolean, per text,
       starts_at int, ends_at int, most_requests float8, most_tokens float8, most_cost float8)),
   counted as (
     select l.*, c.requests::float8 as requests, c.tokens::float8 as tokens, c.cost,
         regexp_match(c.key, '^' || l.scope || ' (.*) ' || l.per || case when l.is_own then ' ([0-9a-f-]{36})$' else '()$' end) as said
       from placed l join usage_counter c on c.starts_at = l.starts_at and c.ends_at = l.ends_at),
   named as (
     select *, case scope when 'group' then said[1] when 'model' then said[1] end as subject,
         case when scope = 'user' then said[1] when is_own then said[2] end as user_id,
         greatest(requests / nullif(most_requests, 0), tokens / nullif(most_tokens, 0), cost / nullif(most_cost, 0)) as share
       from counted c
      where said is not null and (id is null or said[1] = id)
        -- The patterns of other limits are no models.
        and not (scope = 'model' and id is null and exists (select from placed o where o.scope = 'model' and o.id = said[1])))
   select n.place, n.scope, n.per, n.subject, g.name as subject_name, n.user_id, u.name as user_name, n.requests, n.tokens, n.cost,
       n.most_requests, n.most_tokens, n.most_cost, n.ends_at as resets_at
     from named n left join users u on u.id::text = n.user_id left join user_group g on n.scope = 'group' and g.id = n.subject
    order by n.share desc nulls last, n.place, n.subject, n.user_id offset :skip limit :limit`,
);

/** The use of limits by those who have used something of them, the largest share first. */
export const readBudgets = (
  sql: Sql,
  limits: readonly PlacedLimit[],
  page: { skip: number; limit: number },
): Promise<UsedBudget[]> => sql.rows(BUDGETS, { limits: JSON.stringify(limits), ...page });
