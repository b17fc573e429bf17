import { entryOf, record } from '../audit/audit.record.ts';
import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { transaction } from '../database/transaction.ts';
import { hashPassword, verifyPassword } from '../users/passwords/passwords.ts';
import { getOwnAccount } from '../users/people.service.ts';
import { User } from '../users/users.entity.ts';
import { createUser, foldEmail } from '../users/users.service.ts';
import { findAccount } from './auth.repository.ts';
import type { SessionUser, WhoAmI } from './auth.schema.ts';
import { startSession, toWhoAmI } from './auth.start.ts';
import { findLogout } from './oauth/oauth.logout.service.ts';
import { Session } from './sessions/session.entity.ts';
import { endSession } from './sessions/session.ts';

export interface SignUp {
  email: string;
  name: string;
  password: string;
  profile_image_url?: string | undefined;
}

/**
 * Creates an account and signs it in. The first account becomes administrator; later accounts get the
 * configured role.
 *
 * @throws signup_disabled, rate_limited, email_invalid, email_taken, password_weak
 */
export async function signUp(scope: Scope<null>, input: SignUp): Promise<SessionUser> {
  const { enable_signup, ENABLE_LOGIN_FORM, default_user_role } = scope.configs.current.ui;
  if (!enable_signup || !ENABLE_LOGIN_FORM) throw new AppError('signup_disabled');
  await scope.signinLimit.signUp(scope.request);
  const user = await createUser(scope, { ...input, role: default_user_role });
  scope.onSignUp(user);
  return startSession(scope, user, { method: 'signup' });
}

/**
 * Signs in by password. Every attempt counts against the limit of the address. An unknown address takes the
 * same time and gets the same answer as a wrong password.
 *
 * @throws rate_limited, credentials_wrong, signin_disabled
 */
export async function signIn(
  scope: Scope<null>,
  input: { email: string; password: string },
): Promise<SessionUser> {
  if (!scope.configs.current.ui.ENABLE_LOGIN_FORM) throw new AppError('signin_disabled');
  const email = foldEmail(input.email);
  const attempt = await scope.signinLimit.begin(scope.request);
  await attempt.about(email);
  const account = await findAccount(scope.sql, email);
  const fits = await verifyPassword(scope, account?.hash ?? null, input.password);
  if (!account || !fits) {
    await noteFailure(scope, { email, userId: account?.user.id, method: 'password' });
    throw new AppError('credentials_wrong');
  }
  await attempt.giveBack();
  return startSession(scope, account.user, { method: 'password', passwordHash: account.hash });
}

/** Writes a failed sign-in to the audit log, which accepts a limited number an hour. */
export async function noteFailure(
  scope: Scope<null>,
  failure: { email: string; userId?: string | undefined; method: 'password' | 'ldap' | 'oauth' },
): Promise<void> {
  if (!(await scope.signinLimit.mayNoteFailure())) return;
  const { email, userId, method } = failure;
  await record(scope, scope.sql, {
    action: 'auth.signin_failed',
    ...(userId !== undefined && { target: { type: 'user', id: userId } }),
    after: { email, method },
  });
}

/** The caller's account, with the token of the call. */
export async function whoAmI(scope: Scope, token: string): Promise<WhoAmI> {
  return toWhoAmI(scope, await getOwnAccount(scope), token);
}

/**
 * Ends the session of the call and closes its sockets. Succeeds if the session has already ended.
 *
 * @returns where the browser ends its session at the provider, if the session began there
 */
export async function signOut(
  scope: Scope<Actor | null>,
): Promise<{ status: true; redirect_url?: string | undefined }> {
  const { actor } = scope;
  let issuer: string | null = null;
  if (actor && actor.sessionId !== null) {
    const { id, sessionId } = actor;
    const revocation = { userId: id, sessionId };
    const target = { type: 'session', id: sessionId };
    const entry = entryOf(scope, { action: 'auth.signout', target });
    // Announced before the write, so that the sockets close even if the disk is slow. Calls that use the
    // token before the write are verified anew; the second announcement below drops them.
    scope.bus.announce('auth.revoked', revocation);
    await scope.bus.tell('auth.ending', { userId: id });
    issuer = await endSession(scope.sql, sessionId, entry);
    scope.bus.publish('auth.revoked', revocation);
  }
  scope.reply.setSession(null, null);
  return { status: true, redirect_url: issuer === null ? undefined : await findLogout(scope, issuer) };
}

/**
 * Changes the caller's password and ends all sessions of the account, the current session included.
 *
 * @throws password_wrong, password_weak, rate_limited
 */
export async function changePassword(
  scope: Scope,
  input: { password: string; new_password: string },
): Promise<true> {
  const { id } = scope.actor;
  // Limits how often the holder of a stolen token can guess the password.
  await scope.signinLimit.changePassword(id);
  const user = await scope.em.findOne(User, id, { populate: ['password_hash'] });
  const oldHash = user?.password_hash ?? null;
  if (!user || !(await verifyPassword(scope, oldHash, input.password))) throw new AppError('password_wrong');
  const password_hash = await hashPassword(scope, input.new_password, user);
  const changes = { password_hash, updated_at: nowSeconds() };
  await scope.bus.tell('auth.ending', { userId: id });
  await transaction(scope, async (tx) => {
    // Of two concurrent changes from the same password, the second fails: its old password is wrong by then.
    const changed = await tx.em.nativeUpdate(User, { id, password_hash: oldHash }, changes);
    if (changed === 0) throw new AppError('password_wrong');
    await tx.em.nativeDelete(Session, { user: id });
    await record(scope, tx, { action: 'auth.password', target: { type: 'user', id } });
  });
  scope.bus.publish('auth.revoked', { userId: id, sessionId: null });
  scope.reply.setSession(null, null);
  return true;
}
