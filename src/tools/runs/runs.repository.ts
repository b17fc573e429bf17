import { type Sql, statement } from '../../database/sql.ts';
import { PERSON } from '../tools.repository.ts';
import type { ToolRunView } from './runs.schema.ts';

export interface Run {
  /** A UUID of version 7. */
  id: string;
  tool_id: string;
  /** When the tool was created: a later tool may have the same id. */
  tool_created_at: number;
  version: number;
  user_id: string;
  function: string;
  outcome: string;
  started_at: number;
  duration_ms: number;
  cpu_ms: number | null;
  peak_memory_bytes: number | null;
}

/** The usage of a run, when it is known only after the record. */
export type Taken = Pick<Run, 'id'> & { cpu_ms: number; peak_memory_bytes: number };

const STORE = statement<never, { runs: string }>(
  'tool.runs.store',
  `insert into tool_run
       (id, tool_id, version, user_id, function, outcome, started_at, duration_ms, cpu_ms, peak_memory_bytes)
     select r.id, r.tool_id, r.version, r.user_id, r.function, r.outcome, r.started_at, r.duration_ms, r.cpu_ms,
         r.peak_memory_bytes
       from json_to_recordset(:runs::json) as r (id uuid, tool_id text, tool_created_at int, version int, user_id uuid,
         function text, outcome text, started_at int, duration_ms float8, cpu_ms float8, peak_memory_bytes bigint)
       join tool t on t.id = r.tool_id and t.created_at = r.tool_created_at
       for key share of t
     on conflict (id) do nothing`,
);

const COMPLETE = statement<never, { taken: string }>(
  'tool.runs.complete',
  `update tool_run r set cpu_ms = taken.cpu_ms, peak_memory_bytes = taken.peak_memory_bytes
     from json_to_recordset(:taken::json) as taken (id uuid, cpu_ms float8, peak_memory_bytes bigint)
     where r.id = taken.id`,
);

const PRUNE_OLD = statement<never, { before: string }>(
  'tool.runs.prune_old',
  `delete from tool_run where id < :before`,
);

// Keeps the newest runs of each person in turn, so that the person with the most calls loses runs first. That
// requires reading all runs of a tool, so only tools with ten percent too many are pruned.
const PRUNE_MANY = statement<never, { toolIds: string[]; keep: number }>(
  'tool.runs.prune_many',
  `with crowded as (
     select id from unnest(:toolIds::text[]) as touched (id)
       where exists (select from tool_run o where o.tool_id = touched.id order by o.id desc
           offset :keep::int + :keep::int / 10 limit 1)),
   ranked as (
     select r.id, r.tool_id, row_number() over (partition by r.tool_id, r.user_id order by r.id desc) as turn
       from tool_run r join crowded c on c.id = r.tool_id),
   placed as (
     select id, row_number() over (partition by tool_id order by turn, id desc) as place from ranked)
   delete from tool_run r using placed p where r.id = p.id and p.place > :keep::int`,
);

const LIST = statement<ToolRunView, { toolId: string; skip: number; limit: number }>(
  'tool.runs.list',
  `select r.id, r.version, r.function, r.outcome, r.started_at, r.duration_ms, r.cpu_ms,
         r.peak_memory_bytes::float8 as peak_memory_bytes, r.user_id, ${PERSON} as "user"
     from (select * from tool_run where tool_id = :toolId order by id desc offset :skip limit :limit) r
     left join users u on u.id = r.user_id order by r.id desc`,
);

/** Stores runs in one statement; runs of deleted tools are left out. */
export const storeRuns = (sql: Sql, runs: Run[]) => sql.rows(STORE, { runs: JSON.stringify(runs) });

/** Adds the usage of stored runs. */
export const completeRuns = (sql: Sql, taken: Taken[]) =>
  sql.rows(COMPLETE, { taken: JSON.stringify(taken) });

/** Removes the runs before that UUID of version 7, which holds a time. */
export const pruneRunsBefore = (sql: Sql, id: string) => sql.rows(PRUNE_OLD, { before: id });

/**
 * Keeps at most `keep` runs of each of these tools, plus ten percent: the newest, with an equal share for
 * each person.
 */
export const pruneRunsOf = (sql: Sql, toolIds: string[], keep: number) =>
  sql.rows(PRUNE_MANY, { toolIds, keep });

/** The runs of a tool, the newest first. */
export function listRuns(
  sql: Sql,
  toolId: string,
  { skip, limit }: { skip: number; limit: number },
): Promise<ToolRunView[]> {
  return sql.rows(LIST, { toolId, skip, limit });
}
