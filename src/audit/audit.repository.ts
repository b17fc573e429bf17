import { type Database, type Sql, statement } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import type { AuditView } from './audit.schema.ts';

export interface AuditFilter {
  actor?: string | undefined;
  /** An action, or the noun of several. */
  action?: string | undefined;
  targetType?: string | undefined;
  targetId?: string | undefined;
  /** Unix seconds; entries before that. */
  before?: number | undefined;
  /** Unix seconds; entries of then and later. */
  after?: number | undefined;
  /** The id of the last entry of the page before. */
  cursor?: string | undefined;
  limit: number;
}

const LIST = statement<AuditView>(
  'audit.list',
  `select id, created_at, actor_id, actor_email, credential, credential_id, ip, action, target_type, target_id,
          before, after
     from audit_entry
    where ($1::uuid is null or actor_id = $1)
      and ($2::text is null or action = $2 or starts_with(action, $2 || '.'))
      and ($3::text is null or target_type = $3)
      and ($4::text is null or target_id = $4)
      and ($5::int is null or created_at < $5)
      and ($6::int is null or created_at >= $6)
      and ($7::uuid is null or id < $7)
    order by id desc limit $8`,
);

/** Entries, newest first. */
export function listEntries(sql: Sql, filter: AuditFilter): Promise<AuditView[]> {
  const { actor, action, targetType, targetId, before, after, cursor, limit } = filter;
  const values = [actor, action, targetType, targetId, before, after, cursor].map((value) => value ?? null);
  return sql.rows(LIST, [...values, limit]);
}

const SWEEPING = statement('audit.sweeping', `select set_config('parley.audit_sweep', 'on', true)`);
const PRUNE = statement<{ count: number }>(
  'audit.prune',
  `with old as (
     select id from audit_entry where created_at < $1 order by created_at limit $2
   ), gone as (
     delete from audit_entry where id in (select id from old) returning 1
   )
   select count(*)::int as count from gone`,
);

/** Deletes a batch of entries that were made before a moment in Unix seconds. Returns how many there were. */
export function pruneEntries(sql: Database, beforeSeconds: number, batch: number): Promise<number> {
  return transaction({ sql }, async (tx) => {
    await tx.rows(SWEEPING, []);
    const [row] = await tx.rows(PRUNE, [beforeSeconds, batch]);
    return row?.count ?? 0;
  });
}
