import { v7 as uuidv7 } from 'uuid';
import type { Actor, RequestInfo } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import type { Sql } from '../database/sql.ts';
import { type Column, type EntryParams, INSERT, NAMES } from './audit.record.repository.ts';
import { presentable } from './audit.values.ts';

/** The parts of a scope that an entry needs. A command of the shell has no request. */
export interface AuditScope {
  readonly actor: Actor | null;
  readonly request?: Pick<RequestInfo, 'ip'>;
}

export interface AuditEvent {
  /** A noun and the event: `user.update`, `auth.signin`. */
  action: string;
  target?: { type: string; id: string };
  /** The changed members, before and after the change. Members with names of secrets are masked. */
  before?: object | null;
  after?: object | null;
  /** The actor where the call has none: the user who signs in. */
  by?: { id: string; email: string; sessionId: string | null };
}

/**
 * Writes an entry of the audit log for each event, all in one statement.
 *
 * @param sql the transaction of the change, so that both or neither are stored
 */
export async function record(scope: AuditScope, sql: Sql, ...events: AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  const entries = events.map((event) => entryOf(scope, event));
  const lists = NAMES.map((name) => [name, entries.map((entry) => entry[`entry_${name}`])]);
  await sql.rows(INSERT, Object.fromEntries(lists) as Record<Column, unknown[]>);
}

/** An entry as the parameters of `insertEntry`. */
export function entryOf({ actor, request }: AuditScope, event: AuditEvent): EntryParams {
  const by = event.by ?? (actor && { id: actor.id, email: actor.email, sessionId: actor.sessionId });
  const keyId = event.by ? null : (actor?.keyId ?? null);
  const credential = keyId ? 'key' : by?.sessionId ? 'session' : request ? null : 'command';
  return {
    entry_id: uuidv7(),
    entry_created_at: nowSeconds(),
    entry_actor_id: by?.id ?? null,
    entry_actor_email: by?.email ?? null,
    entry_credential: credential,
    entry_credential_id: keyId ?? by?.sessionId ?? null,
    entry_ip: request?.ip ?? null,
    entry_action: event.action,
    entry_target_type: event.target?.type ?? null,
    entry_target_id: event.target?.id ?? null,
    entry_before: presentable(event.before),
    entry_after: presentable(event.after),
  };
}
