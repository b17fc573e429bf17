import { Counter } from 'prom-client';
import { z } from 'zod';
import type { Parts } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import { defineJob, GiveUp, PutOff } from '../../jobs/kind.ts';
import { ATTEMPT_MS, attempt } from './deliveries.attempt.ts';
import { claimDelivery, readNextAttempt, settleDelivery, undoClaim } from './deliveries.repository.ts';
import { afterAttempt } from './deliveries.retries.ts';

const attempts = new Counter({
  name: 'parley_notification_attempts_total',
  help: 'Attempts to deliver a notification: delivered, failed for good, or to be tried again',
  labelNames: ['outcome'],
});

/** Makes one attempt of a delivery. The row stores the number of attempts and the time of the next one. */
export const deliverJob = defineJob({
  name: 'webhooks.deliver',
  payload: z.object({ id: z.uuid() }),
  run: (parts, { id }, signal) => deliver(parts, id, signal),
  timeLimitMs: 3 * ATTEMPT_MS,
  // For this server's own errors. The row counts the answers of the target.
  attempts: 10,
  concurrency: 16,
  laneConcurrency: 4,
});

/** @throws PutOff until the next attempt, GiveUp if there is none */
async function deliver(parts: Parts, id: string, signal: AbortSignal): Promise<void> {
  const { sql } = parts;
  const delivery = await claimDelivery(sql, id, nowSeconds());
  if (!delivery) {
    const next = await readNextAttempt(sql, id);
    if (next === undefined) return;
    throw new PutOff('It is not due yet.', Math.max(1, next - nowSeconds()));
  }
  const result = await attempt(parts, delivery, signal);
  // The process is stopping; the next process repeats the attempt.
  if (result === 'interrupted') {
    await undoClaim(sql, delivery);
    throw signal.reason;
  }
  const now = nowSeconds();
  const outcome = afterAttempt(result, delivery.attempts, now);
  attempts.inc({ outcome: outcome.status === 'pending' ? 'retried' : outcome.status });
  await settleDelivery(sql, delivery, outcome, now);
  const { status, next_attempt_at, error } = outcome;
  if (next_attempt_at !== null) throw new PutOff(error ?? '', next_attempt_at - now);
  if (status === 'failed') throw new GiveUp(error ?? '');
}
