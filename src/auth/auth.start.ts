import { v4 as uuidv4 } from 'uuid';
import { effectivePermissions, permissionsOf } from '../access/permissions.ts';
import { record } from '../audit/audit.record.ts';
import type { Actor, Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import type { UserView } from '../users/users.schema.ts';
import type { SessionUser } from './auth.schema.ts';
import { parseDuration } from './duration.ts';
import { openSessions } from './session.ts';

/** Stands for "for ever": PostgreSQL and JavaScript dates both reach that far. */
const CENTURY_MS = 100 * 365 * 86_400_000;

export interface Proof {
  /** How they showed who they are, for the audit log. */
  method: 'signup' | 'password' | 'ldap' | 'oauth';
  /** When given, the account must still have this password. */
  passwordHash?: string | null;
  /** What the attempt was counted under, for the device to be known by; the address unless told. */
  subject?: string;
  /** What else is written of the session, with it. */
  note?: (sql: Sql, sessionId: string) => Promise<void>;
}

/**
 * Begins a session of somebody who has shown who they are, whatever the way: makes its token, and sets the cookies of the
 * session and of the device.
 *
 * @throws credentials_wrong when the account is gone, or has another password by now
 */
export async function startSession(
  scope: Scope<Actor | null>,
  user: UserView,
  { method, passwordHash = null, subject = user.email, note }: Proof,
): Promise<SessionUser> {
  const lifetimeMs = parseDuration(scope.configs.current.auth.jwt_expiry);
  const { ip, userAgent } = scope.request;
  const session = await scope.sql.transaction(async (sql) => {
    const begun = await openSessions(sql, lifetimeMs ?? CENTURY_MS, passwordHash).createSession(
      user.id,
      { created_at: new Date(), ip, user_agent: userAgent.slice(0, 256) },
      { sessionId: uuidv4() },
    );
    await record(scope, sql, {
      action: 'auth.signin',
      target: { type: 'user', id: user.id },
      after: { method },
      by: { id: user.id, email: user.email, sessionId: begun.id },
    });
    await note?.(sql, begun.id);
    return begun;
  });
  // Tokens count whole seconds; rounding down could leave one of a second with no life at all.
  const expiresAt = lifetimeMs === null ? null : Math.ceil(session.expiresAt.getTime() / 1000);
  const token = await scope.tokens.sign({ userId: user.id, sessionId: session.id, expiresAt });
  scope.reply.setSession(token, expiresAt);
  scope.reply.setDevice?.(await scope.signinLimit.nameDevice(subject));
  return toSessionUser(scope, user, token, expiresAt);
}

/** An account as whoever is signed in to it sees it; a call that begins the session has no actor yet. */
export async function toSessionUser(
  scope: Scope<Actor | null>,
  user: UserView,
  token: string,
  expires_at: number | null,
): Promise<SessionUser> {
  const { id, email, name, role, profile_image_url } = user;
  const permissions = scope.actor ? effectivePermissions(scope) : await permissionsOf(scope, id);
  return { token, token_type: 'Bearer', expires_at, id, email, name, role, profile_image_url, permissions };
}
