import { entryOf } from '../audit/audit.record.ts';
import { defaultPermissions, effectivePermissions, withGranted } from '../configs/settings/permissions.ts';
import { parseDuration } from '../core/duration.ts';
import type { Actor, Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import type { UserDetail, UserView } from '../users/users.schema.ts';
import type { SessionUser, WhoAmI } from './auth.schema.ts';
import { beginSession } from './sessions/session.ts';

declare module '../core/scope.ts' {
  interface Parts {
    /** Called for each account that a sign-up made; returns at once. */
    readonly onSignUp: (user: UserView) => void;
  }
}

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
  const begin = (sql: Sql) =>
    beginSession(sql, {
      userId: user.id,
      lifetimeMs: lifetimeMs ?? CENTURY_MS,
      passwordHash,
      ip: scope.request.ip,
      userAgent: scope.request.userAgent,
      entry: (sessionId) =>
        entryOf(scope, {
          action: 'auth.signin',
          target: { type: 'user', id: user.id },
          after: { method },
          by: { id: user.id, email: user.email, sessionId },
        }),
    });
  const session = note
    ? await transaction(scope, async (tx) => {
        const begun = await begin(tx);
        await note(tx, begun.id);
        return begun;
      })
    : await begin(scope.sql);
  // Tokens count whole seconds; rounding down could leave one of a second with no life at all.
  const expiresAt = lifetimeMs === null ? null : Math.ceil(session.expiresAt.getTime() / 1000);
  const [token, device] = await Promise.all([
    scope.tokens.sign({ userId: user.id, sessionId: session.id, expiresAt }),
    scope.signinLimit.nameDevice(scope.request, subject, method === 'password' || method === 'ldap'),
  ]);
  scope.reply.setSession(token, expiresAt);
  scope.reply.setDevice?.(device);
  return view(user, token, expiresAt, withGranted(defaultPermissions(scope), session.granted));
}

/** The caller's account as they see it, with the token that the call carried. */
export const toWhoAmI = (scope: Scope, user: UserDetail, token: string): WhoAmI => ({
  ...user,
  ...view(user, token, scope.actor.expiresAt, effectivePermissions(scope)),
});

const view = (
  user: UserView,
  token: string,
  expires_at: number | null,
  permissions: SessionUser['permissions'],
): SessionUser => ({ ...user, token, token_type: 'Bearer', expires_at, permissions });
