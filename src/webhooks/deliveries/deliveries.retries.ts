import type { Outcome } from './deliveries.repository.ts';

/** Includes the first attempt. The last attempt is about 45 minutes after the first. */
const ATTEMPTS = 5;
const FIRST_RETRY_SECONDS = 30;
const FACTOR = 4;
/** Spreads the retries of targets that failed at the same time. */
const JITTER = 0.25;
const LONGEST_WAIT_SECONDS = 3_600;

/** The result of one attempt: an answer, no answer, or a failure that a retry cannot change. */
export type AttemptResult =
  | { status: number; retryAfter: string | null }
  | { error: string }
  | { error: string; final: true };

export const giveUp = (error: string): AttemptResult => ({ error, final: true });

/** Statuses after which a retry can succeed. */
const isPassing = (status: number) => status === 408 || status === 429 || status >= 500;

/**
 * Decides what follows an attempt.
 *
 * @param attempts number of attempts, the current one included
 * @param now      seconds
 */
export function afterAttempt(result: AttemptResult, attempts: number, now: number): Outcome {
  const response_status = 'status' in result ? result.status : null;
  if ('status' in result && result.status >= 200 && result.status < 300) {
    return { status: 'delivered', next_attempt_at: null, response_status, error: null };
  }
  const error = 'status' in result ? describe(result.status) : result.error;
  const isFinal = 'status' in result ? !isPassing(result.status) : 'final' in result;
  if (isFinal || attempts >= ATTEMPTS) {
    return { status: 'failed', next_attempt_at: null, response_status, error };
  }
  const backoff = FIRST_RETRY_SECONDS * FACTOR ** (attempts - 1) * (1 - JITTER + 2 * JITTER * Math.random());
  const asked = 'status' in result ? secondsUntil(result.retryAfter, now) : 0;
  const wait = Math.ceil(Math.max(backoff, Math.min(asked, LONGEST_WAIT_SECONDS)));
  return { status: 'pending', next_attempt_at: now + wait, response_status, error };
}

const describe = (status: number) =>
  status >= 300 && status < 400
    ? `It answered ${status}: it is somewhere else now. Enter that address instead.`
    : `It answered ${status}.`;

/** `Retry-After` as seconds or as a date (RFC 9110); 0 if it is neither. */
function secondsUntil(retryAfter: string | null, now: number): number {
  if (retryAfter === null) return 0;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter);
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? 0 : Math.max(0, Math.ceil(at / 1000) - now);
}
