import type { Scope } from '../core/scope.ts';
import { listEntries } from './audit.repository.ts';
import type { AuditQuery, AuditView } from './audit.schema.ts';

/** A page of the audit log, newest first. `next` is the cursor of the next page; null on the last page. */
export async function listAudit(
  scope: Scope,
  { target, limit, ...filter }: AuditQuery,
): Promise<{ entries: AuditView[]; next: string | null }> {
  const [targetType, ...id] = target?.split(':') ?? [];
  const targetId = id.length > 0 ? id.join(':') : undefined;
  // One more entry than the page tells whether there is another page.
  const found = await listEntries(scope.sql, { ...filter, targetType, targetId, limit: limit + 1 });
  const entries = found.slice(0, limit);
  return { entries, next: found.length > limit ? (entries.at(-1)?.id ?? null) : null };
}
