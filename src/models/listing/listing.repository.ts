import { CALLER, type Caller, type CallerParams, callerOf } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import type { FreeForm } from '../models.entity.ts';
import { readableOfAll } from '../models.policy.ts';
import { LINK, type NamedLink } from '../models.resolve.repository.ts';

/** A record with what lists show; `meta` is null unless the caller may read it. */
export interface ListedLink extends NamedLink {
  user_id: string;
  meta: FreeForm | null;
  created_at: number;
  updated_at: number;
}

/* Records that the caller may not read are needed as well: they hide the provider model of their id. */
const LIST = statement<ListedLink, CallerParams>(
  'model.listing',
  `select ${LINK}, t.user_id, t.created_at, t.updated_at, r.can_read, case when r.can_read then t.meta end as meta
     from model t cross join lateral (select ${readableOfAll(CALLER)} as can_read) r`,
);

/** All records, by id. */
export async function readListing(sql: Sql, caller: Caller): Promise<ReadonlyMap<string, ListedLink>> {
  const rows = await sql.rows(LIST, callerOf(caller));
  return new Map(rows.map((row) => [row.id, row]));
}
