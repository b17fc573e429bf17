import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { isStorable } from '../core/wire.ts';
import { type Sql, type Statement, statement } from '../database/sql.ts';
import type { Link } from './models.chain.ts';
import type { FreeForm } from './models.entity.ts';
import { CAN_READ } from './models.policy.ts';

export interface NamedLink extends Link {
  name: string;
}

/** A record with what a call of its model needs. */
export interface CalledLink extends NamedLink {
  params: FreeForm;
  meta: FreeForm;
}

type Params = CallerParams & { ids: readonly string[] };

/** The columns of `NamedLink` of the record `t`. */
export const LINK = 't.id, t.base_model_id, t.opens_base, t.is_active, t.name';

/** The records of these ids and all records on the way to their bases; `union` ends a circle. */
const chains = <Row>(name: string, columns: string): Statement<Row, Params> =>
  statement(
    name,
    `with recursive chain (id, base_model_id) as (
       select r.id, r.base_model_id from model r where r.id = any(:ids::text[])
       union select b.id, b.base_model_id from chain c join model b on b.id = c.base_model_id)
     select ${columns}, ${CAN_READ} as can_read from model t where t.id in (select id from chain)`,
  );

const NAMES = chains<NamedLink>('model.names', LINK);
const CALLS = chains<CalledLink>('model.calls', `${LINK}, t.params, t.meta`);

async function read<Row extends Link>(
  sql: Sql,
  of: Statement<Row, Params>,
  caller: Caller,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  // PostgreSQL refuses other texts, and no record has them.
  const rows = await sql.rows(of, { ...callerOf(caller), ids: ids.filter(isStorable) });
  return new Map(rows.map((row) => [row.id, row]));
}

/** The records of these ids and of their bases, by id. */
export const readLinks = (sql: Sql, caller: Caller, ids: readonly string[]) => read(sql, NAMES, caller, ids);

/** The same with prompts and parameters. */
export const readCalls = (sql: Sql, caller: Caller, ids: readonly string[]) => read(sql, CALLS, caller, ids);
