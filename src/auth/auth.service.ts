import { v4 as uuidv4 } from 'uuid';
import { effectivePermissions } from '../access/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { User } from '../users/users.entity.ts';
import type { UserView } from '../users/users.schema.ts';
import { createUser, getUser } from '../users/users.service.ts';
import type { SessionUser } from './auth.schema.ts';
import { parseDuration } from './duration.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { Session } from './session.entity.ts';
import { openSessions } from './session.ts';

/** Stands for "for ever": PostgreSQL and JavaScript dates both reach that far. */
const CENTURY_MS = 100 * 365 * 86_400_000;

export interface SignUp {
  email: string;
  name: string;
  password: string;
  profile_image_url?: string | undefined;
}

/**
 * Makes an account and signs it in. The very first account becomes administrator; later ones get the configured role.
 *
 * @throws signup_disabled, email_invalid, email_taken
 */
export async function signUp(scope: Scope<null>, input: SignUp): Promise<SessionUser> {
  const { enable_signup, ENABLE_LOGIN_FORM, default_user_role } = scope.configs.current.ui;
  if (!enable_signup || !ENABLE_LOGIN_FORM) throw new AppError('signup_disabled');
  const user = await createUser(scope, { ...input, role: default_user_role });
  return startSession(scope, user);
}

/**
 * Signs in by password. Every attempt counts against the address's limit; an unknown address takes the same time and
 * gets the same answer as a wrong password.
 *
 * @throws rate_limited, credentials_wrong, signin_disabled
 */
export async function signIn(
  scope: Scope<null>,
  input: { email: string; password: string },
): Promise<SessionUser> {
  if (!scope.configs.current.ui.ENABLE_LOGIN_FORM) throw new AppError('signin_disabled');
  const email = input.email.trim().normalize('NFC').toLowerCase();
  await scope.signinLimit.take(email);
  const user = await scope.em.findOne(User, { email }, { populate: ['password_hash'] });
  const fits = await verifyPassword(user?.password_hash ?? null, input.password);
  if (!user || !fits) throw new AppError('credentials_wrong');
  return startSession(scope, await getUser(scope, user.id));
}

async function startSession(scope: Scope<Actor | null>, user: UserView): Promise<SessionUser> {
  const lifetimeMs = parseDuration(scope.configs.current.auth.jwt_expiry);
  const session = await openSessions(scope.sql, lifetimeMs ?? CENTURY_MS).createSession(
    user.id,
    { created_at: new Date(), ip: scope.request.ip, user_agent: scope.request.userAgent.slice(0, 256) },
    { sessionId: uuidv4() },
  );
  const expiresAt = lifetimeMs === null ? null : Math.floor(session.expiresAt.getTime() / 1000);
  const token = await scope.tokens.sign({ userId: user.id, sessionId: session.id, expiresAt });
  scope.reply.setSession(token, expiresAt);
  return toSessionUser(scope, user, token, expiresAt);
}

function toSessionUser(
  scope: Scope<Actor | null>,
  user: UserView,
  token: string,
  expires_at: number | null,
): SessionUser {
  const { id, email, name, role, profile_image_url } = user;
  const permissions = effectivePermissions(scope);
  return { token, token_type: 'Bearer', expires_at, id, email, name, role, profile_image_url, permissions };
}

/** The caller's account, with the token that the call carried. */
export async function whoAmI(scope: Scope, token: string): Promise<SessionUser> {
  return toSessionUser(scope, await getUser(scope, scope.actor.id), token, scope.actor.expiresAt);
}

/** Ends the session that the call came with, its open sockets included. */
export async function signOut(scope: Scope): Promise<{ status: true }> {
  const { id, sessionId } = scope.actor;
  if (sessionId !== null) {
    await openSessions(scope.sql, 0).invalidateSession(sessionId);
    scope.bus.publish('auth.revoked', { userId: id, sessionId });
  }
  scope.reply.setSession(null, null);
  return { status: true };
}

/**
 * Changes the caller's password and ends all of the account's sessions, this one included.
 *
 * @throws password_wrong, rate_limited
 */
export async function changePassword(
  scope: Scope,
  input: { password: string; new_password: string },
): Promise<true> {
  const { id, email } = scope.actor;
  // A stolen token must not become a way to guess the password.
  await scope.signinLimit.take(email);
  const user = await scope.em.findOneOrFail(User, id, { populate: ['password_hash'] });
  if (!(await verifyPassword(user.password_hash ?? null, input.password)))
    throw new AppError('password_wrong');
  user.password_hash = await hashPassword(input.new_password);
  user.updated_at = nowSeconds();
  await scope.em.transactional(async (em) => {
    await em.flush();
    await em.nativeDelete(Session, { user: id });
  });
  scope.bus.publish('auth.revoked', { userId: id, sessionId: null });
  scope.reply.setSession(null, null);
  return true;
}
