import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { AppError } from '../core/errors.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly signinLimit: SigninLimit;
  }
}

const SIGNIN = { points: 5, duration: 180 };

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

/**
 * The limit of sign-in attempts per e-mail address: shared by all processes through Redis, or kept in this one. When
 * Redis does not answer, each process counts for itself.
 */
export function createSigninLimit(shared: { redis: Redis; prefix: string } | null): SigninLimit {
  const memory = new RateLimiterMemory({ ...SIGNIN, keyPrefix: 'signin' });
  const limiter = shared
    ? new RateLimiterRedis({
        ...SIGNIN,
        storeClient: shared.redis,
        keyPrefix: `${shared.prefix}limit:signin`,
        insuranceLimiter: memory,
      })
    : memory;
  return {
    async take(attempt, subject) {
      // A digest, so that the key has one size whatever was sent and Redis holds no addresses.
      const key = `${attempt}:${createHash('sha256').update(subject).digest('base64url')}`;
      try {
        await limiter.consume(key);
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        const retryAfterSeconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
        throw new AppError('rate_limited', {
          detail: `${ATTEMPTS[attempt]} Try again in ${retryAfterSeconds} seconds.`,
          retryAfterSeconds,
        });
      }
    },
  };
}
