import { entryOf } from '../audit/audit.record.ts';
import { defaultPermissions, effectivePermissions, withGranted } from '../configs/settings/permissions.ts';
import { parseDuration } from '../core/duration.ts';
import type { Actor, Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import type { OwnAccount } from '../users/users.repository.ts';
import type { UserView } from '../users/users.schema.ts';
import type { SessionUser, WhoAmI } from './auth.schema.ts';
import { beginSession } from './sessions/session.ts';

declare module '../core/scope.ts' {
  interface Parts {
    /** Called for each account that a sign-up created. Returns at once. */
    readonly onSignUp: (user: UserView) => void;
  }
}

/** Stands for "no expiry". PostgreSQL and JavaScript dates can both represent it. */
const CENTURY_MS = 100 * 365 * 86_400_000;

export interface Proof {
  /** How the user signed in, for the audit log. */
  method: 'signup' | 'password' | 'ldap' | 'oauth';
  /** If given, the account must still have this password hash. */
  passwordHash?: string | null;
  /**
   * The key under which the attempt was counted; the device token names it. Defaults to the email address.
   */
  subject?: string;
  /** Writes more rows about the session, in the same transaction. */
  note?: (sql: Sql, sessionId: string) => Promise<void>;
}

/**
 * Starts a session for a verified user, for every sign-in method. Creates the token, and sets the cookies of
 * the session and of the device.
 *
 * @throws credentials_wrong if the account was deleted, or its password has changed
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
  // Tokens count whole seconds. Rounding down could give a lifetime of one second or less no time at all.
  const expiresAt = lifetimeMs === null ? null : Math.ceil(session.expiresAt.getTime() / 1000);
  const [token, device] = await Promise.all([
    scope.tokens.sign({ userId: user.id, sessionId: session.id, expiresAt }),
    scope.signinLimit.nameDevice(scope.request, subject, method === 'password' || method === 'ldap'),
  ]);
  scope.reply.setSession(token, expiresAt);
  scope.reply.setDevice?.(device);
  return view(user, token, expiresAt, withGranted(defaultPermissions(scope), session.granted));
}

/** The caller's account as the caller sees it, with the token of the call. */
export const toWhoAmI = (scope: Scope, user: OwnAccount, token: string): WhoAmI => ({
  ...user,
  ...view(user, token, scope.actor.expiresAt, effectivePermissions(scope)),
});

const view = (
  user: UserView,
  token: string,
  expires_at: number | null,
  permissions: SessionUser['permissions'],
): SessionUser => ({ ...user, token, token_type: 'Bearer', expires_at, permissions });
