import { type Database, onReplica, type Sql, statement } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import type { AuditView } from './audit.schema.ts';

export interface AuditFilter {
  actor?: string | undefined;
  /** An action, or a noun for all its actions. */
  action?: string | undefined;
  targetType?: string | undefined;
  targetId?: string | undefined;
  /** Unix seconds; entries before this moment. */
  before?: number | undefined;
  /** Unix seconds; entries from this moment on. */
  after?: number | undefined;
  /** The id of the last entry of the previous page. */
  cursor?: string | undefined;
  limit: number;
}

const LIST = onReplica(
  statement<AuditView, { [Name in keyof AuditFilter]-?: Exclude<AuditFilter[Name], undefined> | null }>(
    'audit.list',
    `select id, created_at, actor_id, actor_email, credential, credential_id, ip, action, target_type, target_id,
          before, after
     from audit_entry
    where (:actor::uuid is null or actor_id = :actor)
      and (:action::text is null or action = :action or starts_with(action, :action || '.'))
      and (:targetType::text is null or target_type = :targetType)
      and (:targetId::text is null or target_id = :targetId)
      and (:before::int is null or created_at < :before)
      and (:after::int is null or created_at >= :after)
      and (:cursor::uuid is null or id < :cursor)
    order by id desc limit :limit`,
  ),
);

/** Entries, newest first. */
export function listEntries(sql: Sql, filter: AuditFilter): Promise<AuditView[]> {
  const { actor, action, targetType, targetId, before, after, cursor, limit } = filter;
  return sql.rows(LIST, {
    actor: actor ?? null,
    action: action ?? null,
    targetType: targetType ?? null,
    targetId: targetId ?? null,
    before: before ?? null,
    after: after ?? null,
    cursor: cursor ?? null,
    limit,
  });
}

const SWEEPING = statement<never>('audit.sweeping', `select set_config('parley.audit_sweep', 'on', true)`);
const PRUNE = statement<{ count: number }, { before: number; most: number }>(
  'audit.prune',
  `with old as (
     select id from audit_entry where created_at < :before order by created_at limit :most
   ), gone as (
     delete from audit_entry where id in (select id from old) returning 1
   )
   select count(*)::int as count from gone`,
);

/** Deletes a batch of entries older than a moment in Unix seconds. Returns the number of deleted entries. */
export function pruneEntries(sql: Database, beforeSeconds: number, batch: number): Promise<number> {
  return transaction({ sql }, async (tx) => {
    await tx.rows(SWEEPING);
    const [row] = await tx.rows(PRUNE, { before: beforeSeconds, most: batch });
    return row?.count ?? 0;
  });
}
