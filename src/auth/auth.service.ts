import { v4 as uuidv4 } from 'uuid';
import { effectivePermissions } from '../access/permissions.ts';
import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { User } from '../users/users.entity.ts';
import type { UserView } from '../users/users.schema.ts';
import { createUser, foldEmail, getUser, toView } from '../users/users.service.ts';
import { announceSignUp } from '../webhooks/signups.ts';
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
  announceSignUp(scope, user);
  return startSession(scope, user, null);
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
  const email = foldEmail(input.email);
  await scope.signinLimit.take('signin', email);
  const user = await scope.em.findOne(User, { email }, { populate: ['password_hash'] });
  const hash = user?.password_hash ?? null;
  const fits = await verifyPassword(hash, input.password);
  if (!user || !fits) throw new AppError('credentials_wrong');
  return startSession(scope, toView(user), hash);
}

async function startSession(
  scope: Scope<Actor | null>,
  user: UserView,
  passwordHash: string | null,
): Promise<SessionUser> {
  const lifetimeMs = parseDuration(scope.configs.current.auth.jwt_expiry);
  const session = await openSessions(scope.sql, lifetimeMs ?? CENTURY_MS, passwordHash).createSession(
    user.id,
    { created_at: new Date(), ip: scope.request.ip, user_agent: scope.request.userAgent.slice(0, 256) },
    { sessionId: uuidv4() },
  );
  // Tokens count whole seconds; rounding down could leave one of a second with no life at all.
  const expiresAt = lifetimeMs === null ? null : Math.ceil(session.expiresAt.getTime() / 1000);
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
  const { id } = scope.actor;
  // A stolen token must not become a way to guess the password.
  await scope.signinLimit.take('password', id);
  const user = await scope.em.findOne(User, id, { populate: ['password_hash'] });
  const oldHash = user?.password_hash ?? null;
  if (!(await verifyPassword(oldHash, input.password))) throw new AppError('password_wrong');
  const changes = { password_hash: await hashPassword(input.new_password), updated_at: nowSeconds() };
  await scope.em.transactional(async (em) => {
    // Of two changes at once from the same password, the second is from a wrong one.
    const changed = await em.nativeUpdate(User, { id, password_hash: oldHash }, changes);
    if (changed === 0) throw new AppError('password_wrong');
    await em.nativeDelete(Session, { user: id });
  });
  scope.bus.publish('auth.revoked', { userId: id, sessionId: null });
  scope.reply.setSession(null, null);
  return true;
}
