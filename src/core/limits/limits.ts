import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { Counter } from 'prom-client';
import { RateLimiterCluster, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import { AppError } from '../errors.ts';

/** The store in which processes count together: a Redis, or the primary of workers; null when there is one process. */
export type SharedStore = { redis: Redis | Cluster; prefix: string } | 'primary' | null;

const refusals = new Counter({
  name: 'parley_limit_refusals_total',
  help: 'Attempts that a limit refused',
  labelNames: ['limit'],
});

export interface Limit {
  /**
   * Counts one attempt.
   *
   * @param subject the person or object that the attempts are counted for
   * @param reason  a sentence for the refused caller
   * @param points  the number of allowed attempts instead of the limit's own; 0 for any number
   * @throws rate_limited with the seconds to wait, when there were too many
   */
  take(subject: string, reason: string, points?: number): Promise<void>;
  /** Takes back the count of one attempt. */
  giveBack(subject: string): Promise<void>;
}

/** A digest, so that keys have a fixed size and Redis holds no addresses. */
const keyOf = (subject: string) => createHash('sha256').update(subject).digest('base64url');

/**
 * A bounded number of attempts for each subject within some seconds: counted by all processes together
 * through Redis or their primary, or in this one. While Redis does not answer, each process counts for itself.
 *
 * @param name distinguishes limits; unique in the program
 */
export function createLimit(
  name: string,
  bounds: { points: number; seconds: number },
  shared: SharedStore,
): Limit {
  // The library only counts attempts: the bound is passed with each attempt, since settings change.
  const options = { points: Number.MAX_SAFE_INTEGER, duration: bounds.seconds };
  const refused = refusals.labels(name);
  const limiter = limiterOf(name, options, shared);
  return {
    async take(subject, reason, points = bounds.points) {
      if (points === 0) return;
      const { consumedPoints, msBeforeNext } = await limiter.consume(keyOf(subject));
      if (consumedPoints <= points) return;
      refused.inc();
      const retryAfterSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
      throw new AppError('rate_limited', {
        detail: `${reason} Try again in ${retryAfterSeconds} seconds.`,
        retryAfterSeconds,
      });
    },
    async giveBack(subject) {
      await limiter.reward(keyOf(subject));
    },
  };
}

function limiterOf(name: string, options: { points: number; duration: number }, shared: SharedStore) {
  if (shared === 'primary') return new RateLimiterCluster({ ...options, keyPrefix: name });
  const memory = new RateLimiterMemory({ ...options, keyPrefix: name });
  if (shared === null) return memory;
  return new RateLimiterRedis({
    ...options,
    storeClient: shared.redis,
    keyPrefix: `${shared.prefix}limit:${name}`,
    insuranceLimiter: memory,
  });
}

/**
 * Bounds how many things one person may have under way at a time, in this process. The returned function
 * begins one and returns a function that ends it.
 *
 * @param things their name, for the sentence to a refused caller
 * @throws rate_limited from the returned function
 */
export function limitAtOnce(most: number, things: string): (userId: string) => () => void {
  const underWay = new Map<string, number>();
  return (userId) => {
    const before = underWay.get(userId) ?? 0;
    if (before >= most) {
      const detail = `At most ${most} ${things} at once. Wait until one of them has ended.`;
      throw new AppError('rate_limited', { detail, retryAfterSeconds: 1 });
    }
    underWay.set(userId, before + 1);
    return () => {
      const left = (underWay.get(userId) ?? 1) - 1;
      if (left > 0) underWay.set(userId, left);
      else underWay.delete(userId);
    };
  };
}
