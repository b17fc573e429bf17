import { domainToASCII, domainToUnicode } from 'node:url';
import { type EntityManager, UniqueConstraintViolationException } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import { type AuditScope, record } from '../audit/audit.record.ts';
import { difference } from '../audit/audit.values.ts';
import { AppError, noSuchUser } from '../core/errors.ts';
import type { Actor, Role, Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { type Transaction, transaction } from '../database/transaction.ts';
import { joinGroup } from '../groups/members.repository.ts';
import { hashPassword } from './passwords/passwords.ts';
import { User, type UserEntity } from './users.entity.ts';
import { imageForOthers, reservePicture, storedImage } from './users.picture.ts';
import { endSessionsOf, lockAdministrators } from './users.repository.ts';
import type { UserView } from './users.schema.ts';

/**
 * The oldest administrator. Other administrators cannot change this account, so an administrator always
 * exists. Null before the first account.
 */
export const findOldestAdministrator = (em: EntityManager): Promise<UserEntity | null> =>
  em.findOne(User, { role: 'admin' }, { orderBy: { ordinal: 'asc' } });

/**
 * Normalises an address for comparison: trims, lower-cases and then composes it, because lower case can
 * create new combining pairs. The domain is mapped as mail servers do (UTS 46): full-width letters and other
 * full stops name the same mailbox.
 */
export function foldEmail(input: string): string {
  const folded = input.trim().toLowerCase().normalize('NFC');
  const at = folded.lastIndexOf('@') + 1;
  const domain = folded.slice(at);
  // An invalid domain is returned unchanged, and refused later.
  if (at === 0 || !/^[\p{L}\p{M}\p{N}\p{P}]+$/u.test(domain)) return folded;
  return folded.slice(0, at) + (domainToUnicode(domainToASCII(domain)) || domain);
}

/**
 * Normalises an address for storage.
 *
 * @throws email_invalid unless it has the form `name@domain.tld` (or `name@localhost`)
 */
export function normaliseEmail(input: string): string {
  const email = foldEmail(input);
  const hasForm = /^[^@\s\p{C}<>"]+@([^@\s\p{C}<>"]+\.[^@\s\p{C}<>".]+|localhost)$/u;
  if (email.length > 254 || !hasForm.test(email)) throw new AppError('email_invalid');
  return email;
}

export interface NewUser {
  email: string;
  name: string;
  /** Null for an account that signs in only by another method. */
  password: string | null;
  role: Role;
  username?: string | null | undefined;
  profile_image_url?: string | undefined;
  oauth?: Record<string, unknown> | null | undefined;
}

type CreatingScope = Pick<Scope<Actor | null>, 'sql' | 'configs' | 'passwordCost'> & AuditScope;

/** Stores an account; see `addUser`. @throws email_invalid, email_taken, password_weak */
export async function createUser(scope: CreatingScope, input: NewUser): Promise<UserView> {
  const email = normaliseEmail(input.email);
  const password_hash =
    input.password === null ? null : await hashPassword(scope, input.password, { ...input, email });
  return transaction(scope, (tx) => addUser(scope, tx, { ...input, password_hash }));
}

/**
 * Stores an account within a transaction. The first account becomes administrator, whatever role was
 * requested. A lock ensures that exactly one of several concurrent first accounts becomes administrator.
 *
 * @throws email_invalid, email_taken
 */
export async function addUser(
  scope: CreatingScope,
  tx: Transaction,
  input: Omit<NewUser, 'password'> & { password_hash: string | null },
): Promise<UserView> {
  const email = normaliseEmail(input.email);
  const id = uuidv7();
  const now = nowSeconds();
  await lockAdministrators(tx);
  const isFirst = (await tx.em.find(User, {}, { fields: ['id'], limit: 1 })).length === 0;
  const user = tx.em.create(User, {
    id,
    email,
    username: input.username ?? null,
    name: input.name,
    role: isFirst ? 'admin' : input.role,
    password_hash: input.password_hash,
    profile_image_url: storedImage(id, input.profile_image_url),
    oauth: input.oauth ?? null,
    last_active_at: now,
    created_at: now,
    updated_at: now,
  });
  await tx.em.flush().catch(refuseTaken);
  await joinGroup(tx, scope.configs.current.ui.default_group_id, id, now);
  const view = toView(user);
  await record(scope, tx, { action: 'user.create', target: { type: 'user', id }, after: audited(view) });
  return view;
}

/** @throws email_taken if another account has the address */
function refuseTaken(error: unknown): never {
  if (error instanceof UniqueConstraintViolationException) {
    throw new AppError('email_taken', { cause: error });
  }
  throw error;
}

/** The fields for the audit log: without the picture, and without fields that every change changes. */
export function audited({ email, name, username, role }: UserView) {
  return { email, name, username, role };
}

/** The wire form of an account. No other column leaves the server. */
export function toView(user: UserEntity): UserView {
  const { id, email, username, name, profile_image_url, last_active_at, updated_at, created_at } = user;
  return {
    id,
    email,
    username: username ?? null,
    role: user.role as Role,
    name,
    profile_image_url,
    last_active_at,
    updated_at,
    created_at,
  };
}

/** @throws not_found */
export async function getUser(scope: Scope<Actor | null>, id: string): Promise<UserView> {
  return toView(await findUser(scope.em, id));
}

/** The account with an address, in any spelling; null if there is none. */
export async function findUserByEmail(scope: Scope<Actor | null>, email: string): Promise<UserView | null> {
  const user = await scope.em.findOne(User, { email: foldEmail(email) });
  return user && toView(user);
}

export async function findUser(em: EntityManager, id: string): Promise<UserEntity> {
  const user = await em.findOne(User, id);
  if (!user) throw noSuchUser();
  return user;
}

/**
 * Refuses changes of the oldest administrator by others, so that an administrator always exists. Runs under
 * the lock: the caller may have lost the administrator role meanwhile.
 */
export async function requireRightOver(em: EntityManager, actor: Actor, target: UserEntity): Promise<void> {
  const administrators = await em.find(User, { role: 'admin' }, { orderBy: { ordinal: 'asc' } });
  if (!administrators.some(({ id }) => id === actor.id)) throw new AppError('forbidden');
  const [oldest] = administrators;
  if (oldest?.id === target.id && actor.id !== target.id) throw new AppError('primary_admin');
}

export interface UserChanges {
  id: string;
  role?: Role | undefined;
  name?: string | undefined;
  email?: string | undefined;
  profile_image_url?: string | undefined;
  password?: string | undefined;
}

/** The hash of the new password; undefined if no password is set. */
async function hashOf(
  scope: Scope,
  { email, name, username }: UserEntity,
  { password, ...changes }: UserChanges,
): Promise<string | undefined> {
  if (password === undefined) return undefined;
  const owner = { email: changes.email ?? email, name: changes.name ?? name, username };
  return hashPassword(scope, password, owner);
}

/**
 * Changes an account. A new role or password ends the account's sessions.
 *
 * @throws not_found, email_invalid, email_taken, password_weak, quota_exceeded, primary_admin,
 *   session_required, forbidden if administrators remove their own role
 */
export async function updateUser(scope: Scope, changes: UserChanges): Promise<UserView> {
  const takesOver = changes.email !== undefined || changes.password !== undefined;
  // Otherwise the holder of a stolen administrator key could set a password and get a session, which outlives
  // the key.
  if (takesOver && changes.id === scope.actor.id && scope.actor.keyId !== null) {
    throw new AppError('session_required');
  }
  const email = changes.email === undefined ? undefined : normaliseEmail(changes.email);
  const known = await findUser(scope.em, changes.id);
  const password_hash = await hashOf(scope, known, changes);
  await reservePicture(scope, changes.id, changes.profile_image_url ?? '');
  // A form may send the role that the account has. That ends no session.
  const isOtherRole = changes.role !== undefined && changes.role !== known.role;
  if (password_hash !== undefined || isOtherRole) {
    await scope.bus.tell('auth.ending', { userId: changes.id });
  }
  const { view, revoked } = await transaction(scope, async (tx) => {
    await lockAdministrators(tx);
    const user = await findUser(tx.em, changes.id);
    await requireRightOver(tx.em, scope.actor, user);
    const demotesSelf = changes.role !== undefined && changes.role !== 'admin' && user.id === scope.actor.id;
    if (demotesSelf) {
      throw new AppError('forbidden', { detail: 'You cannot take away your own administration.' });
    }
    const before = audited(toView(user));
    const revoked = password_hash !== undefined || (changes.role !== undefined && changes.role !== user.role);
    tx.em.assign(
      user,
      {
        ...(changes.role !== undefined && { role: changes.role }),
        ...(changes.name !== undefined && { name: changes.name }),
        ...(email !== undefined && { email }),
        ...(changes.profile_image_url !== undefined && {
          profile_image_url: storedImage(user.id, changes.profile_image_url),
        }),
        ...(password_hash !== undefined && { password_hash }),
        updated_at: nowSeconds(),
      },
      { mergeObjectProperties: false },
    );
    await tx.em.flush().catch(refuseTaken);
    // After the row is written and locked: a concurrent sign-in with the old password is either deleted here
    // or refused.
    if (revoked) await endSessionsOf(tx, user.id);
    const view = toView(user);
    const changed = difference(
      { ...before, password_replaced: false },
      { ...audited(view), password_replaced: password_hash !== undefined },
    );
    if (changed) {
      const action = 'role' in changed.after ? 'user.role' : 'user.update';
      await record(scope, tx, { action, target: { type: 'user', id: view.id }, ...changed });
    }
    return { view, revoked };
  });
  if (revoked) scope.bus.publish('auth.revoked', { userId: view.id, sessionId: null });
  else scope.bus.publish('auth.changed', { userId: view.id });
  if (view.id === scope.actor.id) return view;
  return { ...view, profile_image_url: imageForOthers(view.id, view.profile_image_url) };
}
