import { createLimit, type SharedStore } from '../core/limits.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly signinLimit: SigninLimit;
  }
}

const SIGNIN = { points: 5, seconds: 180 };

/** What is tried with a password; each is counted for itself. */
const ATTEMPTS = {
  signin: 'Too many sign-in attempts for this address.',
  password: 'Too many attempts to change the password.',
} as const;

export interface SigninLimit {
  /**
   * Counts one attempt, successful or not.
   *
   * @param subject the address, or the id of the account
   * @throws rate_limited with the seconds to wait after the fifth within three minutes
   */
  take(attempt: keyof typeof ATTEMPTS, subject: string): Promise<void>;
}

/** The limit of attempts with a password, per e-mail address. */
export function createSigninLimit(shared: SharedStore): SigninLimit {
  const limit = createLimit('signin', SIGNIN, shared);
  return { take: (attempt, subject) => limit.take(`${attempt}:${subject}`, ATTEMPTS[attempt]) };
}
