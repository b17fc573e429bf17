import type { Job } from 'graphile-worker';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import type { Parts } from '../core/scope.ts';
import { traceWork } from '../core/tracing.ts';
import type { Sql } from '../database/sql.ts';
import { causeOf } from './cause.ts';
import type { Endings } from './endings.ts';
import { backOffOf, GiveUp, type JobKind, PutOff } from './kind.ts';
import { type Settlement, settleJob } from './queue.repository.ts';
import type { Room } from './room.ts';

/** How long a job whose signal has fired may take to end. */
export const END_GRACE_MS = 2_000;

const ended = new Counter({
  name: 'parley_jobs_total',
  help: 'Attempts of jobs that have ended: done, returned (they go on later), retried after an error, or failed for good',
  labelNames: ['kind', 'outcome'],
});

const RETURNED: Settlement = { as: 'returned', waitSeconds: 0, error: null };

interface Attempt {
  kind: string;
  ending: AbortController;
}

/** The jobs that run in this process: each gets its signal, and its end is written. */
export class Attempts {
  readonly #sql: Sql;
  readonly #log: Logger;
  readonly #room: Room;
  readonly #endings: Endings;
  /** By the id of the job. */
  readonly #running = new Map<string, Attempt>();

  constructor(means: { sql: Sql; log: Logger; room: Room; endings: Endings }) {
    this.#sql = means.sql;
    this.#log = means.log;
    this.#room = means.room;
    this.#endings = means.endings;
  }

  get ids(): string[] {
    return [...this.#running.keys()];
  }

  has(jobId: string): boolean {
    return this.#running.has(jobId);
  }

  countOf(kind: string): number {
    return [...this.#running.values()].filter((attempt) => attempt.kind === kind).length;
  }

  end(jobId: string, reason: Error): void {
    this.#running.get(jobId)?.ending.abort(reason);
  }

  endAll(reason: Error): void {
    for (const { ending } of this.#running.values()) ending.abort(reason);
  }

  /** Runs a job that the library has picked up. @throws the error of the job, by which the library knows that the attempt failed */
  async perform(parts: Parts, kind: JobKind, given: unknown, job: Job): Promise<void> {
    if (!this.#room.take(job)) {
      await this.#settle(job, RETURNED);
      throw new Error('There is no place for it.');
    }
    const ending = new AbortController();
    this.#running.set(job.id, { ending, kind: kind.name });
    const limit = limitOf(kind);
    const signal = AbortSignal.any([ending.signal, limit.signal]);
    const { requestId, describe } = causeOf(given, kind.name, job);
    try {
      await traceWork(requestId, describe, async () => {
        try {
          await run(parts, kind, given, signal);
        } catch (error) {
          await this.#noteFailure(kind, job, error, ending.signal.aborted);
          throw error;
        }
        ended.inc({ kind: kind.name, outcome: 'done' });
        this.#log.debug({ kind: kind.name, job: job.id, attempt: job.attempts }, 'A job is done.');
      });
    } finally {
      limit.clear();
      this.#running.delete(job.id);
      this.#room.leave(job);
    }
  }

  /** @param wasEnded by a stop of the server or a loss of the job: then the attempt does not count */
  async #noteFailure(kind: JobKind, job: Job, error: unknown, wasEnded: boolean): Promise<void> {
    const end = wasEnded ? RETURNED : settlementOf(kind, job, error);
    const known = { err: error, kind: kind.name, job: job.id, attempt: job.attempts };
    if (isExpected(error) || end === RETURNED) this.#log.debug(known, 'A job has ended without success.');
    else this.#log.warn(known, `A job failed${end.as === 'failed' ? ' for good' : '; it is tried again'}.`);
    ended.inc({ kind: kind.name, outcome: end.as });
    await this.#settle(job, end);
  }

  #settle(job: Job, end: Settlement): Promise<void> {
    return this.#endings.write(() => settleJob(this.#sql, job.id, job.locked_by ?? '', end));
  }
}

/** The time limit of an attempt. */
function limitOf({ timeLimitMs }: JobKind): { signal: AbortSignal; clear(): void } {
  const limit = new AbortController();
  const reason = `It took longer than ${timeLimitMs / 1_000} s.`;
  const timer = setTimeout(() => limit.abort(new Error(reason)), timeLimitMs);
  return { signal: limit.signal, clear: () => clearTimeout(timer) };
}

/** Does the work. When the signal fires, it has a moment to end. */
async function run(parts: Parts, kind: JobKind, given: unknown, signal: AbortSignal): Promise<void> {
  const payload = kind.payload.safeParse(given);
  if (!payload.success) throw new GiveUp(`The payload is none of ${kind.name}: ${payload.error.message}`);
  const work = kind.run(parts, payload.data, signal);
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      timer = setTimeout(() => reject(signal.reason), END_GRACE_MS);
    });
  });
  await Promise.race([work, overdue]).finally(() => clearTimeout(timer));
}

const isExpected = (error: unknown) => error instanceof PutOff || error instanceof GiveUp;

function settlementOf(kind: JobKind, { attempts, max_attempts }: Job, thrown: unknown): Settlement {
  const error = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof PutOff) return { as: 'returned', waitSeconds: thrown.seconds, error };
  if (thrown instanceof GiveUp || attempts >= max_attempts) return { as: 'failed', waitSeconds: 0, error };
  return { as: 'retried', waitSeconds: backOffOf(kind, attempts), error };
}
