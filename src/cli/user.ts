import { z } from 'zod';
import { record } from '../audit/audit.record.ts';
import { hashPassword } from '../auth/passwords.ts';
import { Session } from '../auth/session.entity.ts';
import { AppError } from '../core/errors.ts';
import { nowSeconds } from '../core/time.ts';
import { sqlWithin } from '../database/sql.ts';
import { User } from '../users/users.entity.ts';
import { password as passwordAtom, personName, RoleAtom } from '../users/users.schema.ts';
import { createUser, foldEmail, lockAdministrators } from '../users/users.service.ts';
import type { CommandContext } from './commands.ts';
import { readPassword, readWords, UsageError } from './words.ts';
import { type Workplace, work } from './workplace.ts';

/** As the doors check it. @throws UsageError */
function check<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  if (value === undefined) throw new UsageError(`${what} is missing.`);
  throw new UsageError(`${what}: ${parsed.error.issues[0]?.message}`);
}

const askPassword = async () => check('The password', passwordAtom(), await readPassword());

export async function userCreate(args: string[], { env, log }: CommandContext): Promise<void> {
  const text = { type: 'string' } as const;
  const { values } = readWords(args, { email: text, name: text, role: text }, [0, 0]);
  const account = {
    email: check('--email', z.string(), values.email),
    name: check('--name', personName(), values.name),
    role: check('--role', RoleAtom, values.role ?? 'user'),
    password: await askPassword(),
  };
  await work(env, log, async (at) => {
    const { email, role, id } = await createUser(at, account);
    process.stdout.write(`${email} has an account, as ${role} (${id}).\n`);
  });
}

export async function userRole(args: string[], { env, log }: CommandContext): Promise<void> {
  const { words } = readWords(args, {}, [2, 2]);
  const role = check('The role', RoleAtom, words[1]);
  await work(env, log, async (at) => {
    const email = await changeAccount(at, words[0] ?? '', { role });
    process.stdout.write(`${email} is ${role} now.\n`);
  });
}

export async function userPassword(args: string[], { env, log }: CommandContext): Promise<void> {
  const { words } = readWords(args, {}, [1, 1]);
  const password_hash = await hashPassword(await askPassword());
  await work(env, log, async (at) => {
    const email = await changeAccount(at, words[0] ?? '', { password_hash });
    process.stdout.write(`${email} has a new password; all its sessions have ended.\n`);
  });
}

/**
 * Changes the account of an address and ends its sessions. The shell may do more than an administrator: the oldest one can
 * be demoted here, but not the last.
 *
 * @throws not_found, primary_admin
 */
async function changeAccount(
  at: Workplace,
  address: string,
  changes: { role: string } | { password_hash: string },
): Promise<string> {
  const { em, bus } = at;
  const user = await em.transactional(async (within) => {
    await lockAdministrators(within);
    const found = await within.findOne(User, { email: foldEmail(address) });
    if (!found) throw new AppError('not_found', { detail: `Nobody has an account as ${address}.` });
    const demotes = 'role' in changes && changes.role !== 'admin' && found.role === 'admin';
    if (demotes && (await within.count(User, { role: 'admin' })) === 1) {
      throw new AppError('primary_admin', {
        detail: `${found.email} is the only administrator. Make another one first.`,
      });
    }
    await within.nativeUpdate(User, { id: found.id }, { ...changes, updated_at: nowSeconds() });
    // After the row is written and so locked: a sign-in under way is either seen here or refused.
    await within.nativeDelete(Session, { user: found.id });
    await record(at, sqlWithin(within), {
      action: 'role' in changes ? 'user.role' : 'user.update',
      target: { type: 'user', id: found.id },
      before: 'role' in changes ? { role: found.role } : { password_replaced: false },
      after: 'role' in changes ? changes : { password_replaced: true },
    });
    return found;
  });
  bus.publish('auth.revoked', { userId: user.id, sessionId: null });
  return user.email;
}
