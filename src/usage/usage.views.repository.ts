import { type Sql, statement } from '../database/sql.ts';
import type { UsageSum } from './usage.schema.ts';

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

const SUMS = statement<UsageSum, SumFilter>(
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
);

/** Sums of calls by day, the last day first. */
export const readSums = (sql: Sql, filter: SumFilter): Promise<UsageSum[]> => sql.rows(SUMS, filter);
