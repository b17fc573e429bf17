import { type Caller, type CallerParams, callerOf } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import { CAN_READ } from '../tools.policy.ts';

/*
 * A change holds the values that it was made from: otherwise one of two concurrent changes would be lost. `is
 * not distinct from` also matches "nothing yet". The version of the source is compared too, because another
 * source may have another class.
 */

const STORE = statement<{ id: string }, { toolId: string; version: number; from: string | null; to: string }>(
  'tool.valves.store',
  `update tool set valves = :to where id = :toolId and version = :version and valves is not distinct from :from returning id`,
);

const STORE_FOR_USER = statement<
  { id: string },
  { toolId: string; version: number; from: string | null; to: string; userId: string; now: number }
>(
  'tool.valves.store_for_user',
  `insert into tool_user_valves as v (tool_id, user_id, valves, updated_at)
     select t.id, :userId, :to, :now from tool t where t.id = :toolId and t.version = :version
     on conflict (tool_id, user_id) do update set valves = excluded.valves, updated_at = excluded.updated_at
       where v.valves is not distinct from :from
     returning tool_id as id`,
);

export interface ValvesChange {
  toolId: string;
  version: number;
  /** The sealed text that was read. */
  from: string | null;
  /** The new sealed text. */
  to: string;
}

/** Stores the valves of a tool. Returns false when the valves or the source changed since they were read. */
export async function storeValves(sql: Sql, { toolId, version, from, to }: ValvesChange): Promise<boolean> {
  const rows = await sql.rows(STORE, { toolId, version, from, to });
  return rows.length > 0;
}

/** Stores the valves that one person set of a tool; as `storeValves`. */
export async function storeUserValves(
  sql: Sql,
  { toolId, version, from, to }: ValvesChange,
  userId: string,
  nowSeconds: number,
): Promise<boolean> {
  const rows = await sql.rows(STORE_FOR_USER, { toolId, version, from, to, userId, now: nowSeconds });
  return rows.length > 0;
}

/** Bytes of sealed text that one list of valves may hold; the newest are kept. */
const LISTED_BYTES = 2 * 1024 * 1024;

const LIST_OF_USER = statement<{ id: string; user_valves: string }, CallerParams>(
  'tool.valves.of_user',
  `select id, user_valves from (
     select v.tool_id as id, v.valves as user_valves,
            sum(octet_length(v.valves)) over (order by v.updated_at desc, v.tool_id) as bytes
       from tool_user_valves v join tool t on t.id = v.tool_id where v.user_id = :callerId and ${CAN_READ}) listed
    where bytes <= ${LISTED_BYTES} order by id`,
);

/** The sealed valves that a person has set of tools that the person may read. */
export const listSealedUserValves = (sql: Sql, caller: Caller) => sql.rows(LIST_OF_USER, callerOf(caller));
