import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { type Owner, requireGoodPassword } from './passwords.rules.ts';

/** Checked when there is no account, so that an unknown address costs the same time as a wrong password. */
const NOBODY = await hash('no account has this password');

/** How many hashes may wait. Anybody can ask for one, and each takes tens of milliseconds of a core. */
const MAX_WAITING = 128;
let waiting = 0;

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (waiting >= MAX_WAITING) throw new AppError('unavailable', { retryAfterSeconds: 1 });
  waiting += 1;
  try {
    return await work();
  } finally {
    waiting -= 1;
  }
}

/**
 * The hash of a new password: Argon2id with the library's defaults, which follow OWASP's; runs outside the event loop.
 *
 * @throws password_weak, unavailable when too many wait already
 */
export async function hashPassword(
  { configs }: Pick<Scope, 'configs'>,
  password: string,
  owner: Owner,
): Promise<string> {
  await requireGoodPassword(configs, password, owner);
  return inTurn(() => hash(password));
}

/**
 * Whether the password fits. Takes as long without a hash, for which the answer is always no.
 *
 * @throws unavailable when too many wait already
 */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const fits = await inTurn(() => verify(stored ?? NOBODY, password));
  return stored !== null && fits;
}
