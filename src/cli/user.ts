import type { EntityManager } from '@mikro-orm/postgresql';
import { Option } from 'commander';
import { record } from '../audit/audit.record.ts';
import { Session } from '../auth/sessions/session.entity.ts';
import { AppError } from '../core/errors.ts';
import type { Actor, Role } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { transaction } from '../database/transaction.ts';
import { StartError } from '../env.ts';
import { accountDeletion } from '../nouns.ts';
import { hashPassword } from '../users/passwords/passwords.ts';
import { deleteUser } from '../users/users.delete.service.ts';
import { User, type UserEntity } from '../users/users.entity.ts';
import { lockAdministrators } from '../users/users.repository.ts';
import { password as passwordAtom, personName } from '../users/users.schema.ts';
import { createUser, foldEmail } from '../users/users.service.ts';
import type { CommandContext, Streams } from './context.ts';
import { check, readPassword } from './words.ts';
import { type Workplace, work } from './workplace.ts';

export const emailOption = () => new Option('--email <email>', 'its address').makeOptionMandatory();
export const nameOption = () =>
  new Option('--name <name>', 'its name')
    .makeOptionMandatory()
    .argParser((value) => check(personName(), value));

/** @throws StartError when the typed password may not be used */
async function askPassword(streams: Streams): Promise<string> {
  const parsed = passwordAtom().safeParse(await readPassword(streams));
  if (parsed.success) return parsed.data;
  throw new StartError(`The password ${parsed.error.issues[0]?.message}.`);
}

export async function userCreate(
  { email, name, role }: { email: string; name: string; role: Role },
  context: CommandContext,
): Promise<void> {
  const { env, log, stdout } = context;
  const account = { email, name, role, password: await askPassword(context) };
  await work(env, log, async (at) => {
    const made = await createUser(at, account);
    stdout.write(`${made.email} has an account, as ${made.role} (${made.id}).\n`);
  });
}

export async function userRole(
  address: string,
  role: Role,
  { env, log, stdout }: CommandContext,
): Promise<void> {
  await work(env, log, async (at) => {
    const email = await changeAccount(at, address, { role });
    stdout.write(`${email} is ${role} now.\n`);
  });
}

export async function userPassword(address: string, context: CommandContext): Promise<void> {
  const { env, log, stdout } = context;
  const password = await askPassword(context);
  await work(env, log, async (at) => {
    const owner = await requireAccount(at.em, address);
    const password_hash = await hashPassword(at, password, owner);
    const email = await changeAccount(at, owner.email, { password_hash });
    stdout.write(`${email} has a new password; all its sessions have ended.\n`);
  });
}

/** How many accounts are read at once. */
const PAGE = 1000;

export async function userList(
  { role, json }: { role?: Role; json?: boolean },
  { env, log, stdout }: CommandContext,
): Promise<void> {
  await work(env, log, async ({ em }) => {
    for (let after = 0; ; ) {
      const page = await em.find(
        User,
        { ordinal: { $gt: after }, ...(role && { role }) },
        { orderBy: { ordinal: 'asc' }, limit: PAGE, disableIdentityMap: true },
      );
      for (const user of page) stdout.write(`${json ? JSON.stringify(listed(user)) : lineOf(user)}\n`);
      if (page.length < PAGE) return;
      after = page.at(-1)?.ordinal ?? 0;
    }
  });
}

const listed = ({ id, email, name, role, created_at, last_active_at }: UserEntity) => ({
  ...{ id, email, name, role, created_at, last_active_at },
});

const dayOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 10);
const lineOf = ({ email, name, role, last_active_at }: UserEntity) =>
  `${role.padEnd(8)}${email}  ${name}  (last active ${dayOf(last_active_at)})`;

export async function userDelete(
  address: string,
  { heir }: { heir: string },
  { env, log, stdout }: CommandContext,
): Promise<void> {
  await work(env, log, async (at) => {
    const user = await requireAccount(at.em, address);
    const { id, email, name, role } = await requireAccount(at.em, heir);
    if (role !== 'admin') throw new StartError(`${email} is no administrator, and cannot be the heir.`);
    const actor: Actor = {
      ...{ id, email, name, role },
      ...{ sessionId: null, keyId: null, granted: [], expiresAt: null },
    };
    await deleteUser({ ...at, actor, accountDeletion }, user.id);
    stdout.write(`${user.email} is deleted. What others use of it belongs to ${email} now.\n`);
  });
}

/** @throws not_found */
async function requireAccount(em: EntityManager, address: string): Promise<UserEntity> {
  const found = await em.findOne(User, { email: foldEmail(address) });
  if (!found) throw new AppError('not_found', { detail: `There is no account with the address ${address}.` });
  return found;
}

/**
 * Changes the account of an address and ends its sessions; the role that it has already changes nothing. The shell may do
 * more than an administrator: it can demote the oldest administrator, but not the last one.
 *
 * @throws not_found, primary_admin
 */
async function changeAccount(
  at: Workplace,
  address: string,
  changes: { role: string } | { password_hash: string },
): Promise<string> {
  const user = await transaction(at, async (tx) => {
    await lockAdministrators(tx);
    const found = await requireAccount(tx.em, address);
    if ('role' in changes && changes.role === found.role) return { email: found.email, id: null };
    const demotes = 'role' in changes && changes.role !== 'admin' && found.role === 'admin';
    if (demotes && (await tx.em.count(User, { role: 'admin' })) === 1) {
      throw new AppError('primary_admin', {
        detail: `${found.email} is the only administrator. Make another one first.`,
      });
    }
    await at.bus.tell('auth.ending', { userId: found.id });
    await tx.em.nativeUpdate(User, { id: found.id }, { ...changes, updated_at: nowSeconds() });
    // After the row is written and locked: a concurrent sign-in is either ended here or refused.
    await tx.em.nativeDelete(Session, { user: found.id });
    await record(at, tx, {
      action: 'role' in changes ? 'user.role' : 'user.update',
      target: { type: 'user', id: found.id },
      before: 'role' in changes ? { role: found.role } : { password_replaced: false },
      after: 'role' in changes ? changes : { password_replaced: true },
    });
    return found;
  });
  if (user.id !== null) at.bus.publish('auth.revoked', { userId: user.id, sessionId: null });
  return user.email;
}
