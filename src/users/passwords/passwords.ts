import { hash, verify } from '@node-rs/argon2';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import type { Env } from '../../env.ts';
import { type Owner, requireGoodPassword } from './passwords.rules.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly passwordCost: PasswordCost;
  }
}

/** Argon2id parameters. The first entry is the library's default, which follows OWASP. */
const COSTS = {
  full: { memoryCost: 19_456, timeCost: 2, parallelism: 1 },
  least: { memoryCost: 8, timeCost: 1, parallelism: 1 },
};
export type PasswordCost = keyof typeof COSTS;

/** Tests create hundreds of accounts; only tests may set `ENV=test`. */
export const passwordCostOf = ({ ENV }: Pick<Env, 'ENV'>): PasswordCost =>
  ENV === 'test' ? 'least' : 'full';

/** Verified if there is no account, so that an unknown address costs the same time as a wrong password. */
const UNKNOWN: Record<PasswordCost, string> = {
  full: await hash('no account has this password', COSTS.full),
  least: await hash('no account has this password', COSTS.least),
};

/** How many hashes may wait. Any caller can request one, and each takes tens of milliseconds of a core. */
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
 * Hashes a new password outside the event loop.
 *
 * @throws password_weak, unavailable if too many hashes wait
 */
export async function hashPassword(
  { configs, passwordCost }: Pick<Scope, 'configs' | 'passwordCost'>,
  password: string,
  owner: Owner,
): Promise<string> {
  await requireGoodPassword(configs, password, owner);
  return inTurn(() => hash(password, COSTS[passwordCost]));
}

/**
 * Verifies a password. Takes as long without a hash; the result is then false.
 *
 * @throws unavailable if too many hashes wait
 */
export async function verifyPassword(
  { passwordCost }: Pick<Scope, 'passwordCost'>,
  stored: string | null,
  password: string,
): Promise<boolean> {
  const fits = await inTurn(() => verify(stored ?? UNKNOWN[passwordCost], password));
  return stored !== null && fits;
}
