import { DEFAULT_LIMITS } from '../../access/access.terms.ts';
import type { ConfigStore } from '../../configs/configs.store.ts';
import { AppError } from '../../core/errors.ts';

const MAX_CHARACTERS = 128;

/** The account for the new password. */
export interface Owner {
  email: string;
  name: string;
  username?: string | null | undefined;
}

const fold = (text: string) => text.normalize('NFKC').trim().toLowerCase();

let common: Promise<ReadonlySet<string>> | undefined;

/** About 49,000 of the most used passwords, in lower case. Read when the first password is set. */
function readCommon(): Promise<ReadonlySet<string>> {
  common ??= import('@zxcvbn-ts/language-common').then(
    ({ dictionary }) => new Set(dictionary['passwords-common'] as string[]),
  );
  return common;
}

/**
 * The rules for a new password. Sign-in does not apply them: older passwords stay valid.
 *
 * @throws password_weak with the reason
 */
export async function requireGoodPassword(
  { current }: Pick<ConfigStore, 'current'>,
  password: string,
  { email, name, username }: Owner,
): Promise<void> {
  const min = current.limits?.password_min_length ?? DEFAULT_LIMITS.password_min_length;
  const characters = [...password].length;
  if (characters < min) throw weak(`at least ${min} characters`);
  if (characters > MAX_CHARACTERS) throw weak(`at most ${MAX_CHARACTERS} characters`);
  const folded = fold(password);
  const own = [email, email.slice(0, email.lastIndexOf('@')), name, username ?? ''].map(fold);
  if (own.includes(folded)) throw weak('to be other than the e-mail address and the name');
  if ((await readCommon()).has(folded))
    throw weak('to be one that fewer people use: attackers try this one first');
}

const weak = (need: string) => new AppError('password_weak', { detail: `A password needs ${need}.` });
