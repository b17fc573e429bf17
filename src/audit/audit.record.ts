import { v7 as uuidv7 } from 'uuid';
import type { Actor, RequestInfo } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import type { Sql } from '../database/sql.ts';
import { INSERT, TYPES } from './audit.record.repository.ts';
import { presentable } from './audit.values.ts';

/** What an entry is made from, of a call or of a command of the shell, which has no request. */
export interface AuditScope {
  readonly actor: Actor | null;
  readonly request?: Pick<RequestInfo, 'ip'>;
}

export interface AuditEvent {
  /** A noun and what became of it: `user.update`, `auth.signin`. */
  action: string;
  target?: { type: string; id: string };
  /** The members that are another now, as they were and as they are. Whatever is named like a secret is masked. */
  before?: object | null;
  after?: object | null;
  /** Who did it, where the call itself does not say so: whoever signs in. */
  by?: { id: string; email: string; sessionId: string | null };
}

/**
 * Writes an entry of the audit log for each event, all in one statement.
 *
 * @param sql the transaction of the change itself, so that there is neither without the other
 */
export async function record(scope: AuditScope, sql: Sql, ...events: AuditEvent[]): Promise<void> {
  if (events.length === 0) return;
  const entries = events.map((event) => entryValues(scope, event));
  await sql.rows(
    INSERT,
    TYPES.map((_type, column) => entries.map((entry) => entry[column])),
  );
}

/** The parameters of `insertEntry`. */
export function entryValues({ actor, request }: AuditScope, event: AuditEvent): unknown[] {
  const by = event.by ?? (actor && { id: actor.id, email: actor.email, sessionId: actor.sessionId });
  const keyId = event.by ? null : (actor?.keyId ?? null);
  const credential = keyId ? 'key' : by?.sessionId ? 'session' : request ? null : 'command';
  return [
    uuidv7(),
    nowSeconds(),
    by?.id ?? null,
    by?.email ?? null,
    credential,
    keyId ?? by?.sessionId ?? null,
    request?.ip ?? null,
    event.action,
    event.target?.type ?? null,
    event.target?.id ?? null,
    presentable(event.before),
    presentable(event.after),
  ];
}
