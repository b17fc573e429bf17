import type { z } from 'zod';
import type { Parts } from '../core/scope.ts';

/** A kind of durable work: a noun declares it, `enqueue` stores a job, and any process of the database runs it. */
export interface JobKind<Payload = unknown> {
  /** `noun.verb`; it stands in the database, so a changed name needs a migration. */
  readonly name: string;
  /** The shape of a payload, an object without `cause`. Jobs outlive an upgrade, so later members must be optional. */
  readonly payload: z.ZodType<Payload>;
  /**
   * Does the work. A job may run again after a crash, so a second run must do no harm.
   *
   * @param signal fires at the time limit, when the server stops and when another process has taken the job over
   * @throws PutOff, GiveUp, and anything else for another attempt after the back-off
   */
  run(parts: Parts, payload: Payload, signal: AbortSignal): Promise<void>;
  readonly timeLimitMs: number;
  /** The most attempts. An attempt that a stop of the server ends does not count; one that a crash ends counts. */
  readonly attempts: number;
  /** The wait after so many attempts; 2, 4, 8, … seconds, at most an hour, unless given. */
  readonly backOffSeconds?: (attempts: number) => number;
  /** How many run at once in a process. */
  readonly concurrency: number;
  /** How many of one lane (`JobOptions`) run at once in a process; as many as of the kind unless given. */
  readonly laneConcurrency?: number;
}

/** Fixes the type of the payload. */
export const defineJob = <Payload>(kind: JobKind<Payload>): JobKind<Payload> => kind;

const LONGEST_SECONDS = 3_600;

export const backOffOf = (kind: Pick<JobKind, 'backOffSeconds'>, attempts: number): number =>
  kind.backOffSeconds?.(attempts) ?? Math.min(LONGEST_SECONDS, 2 ** attempts);

/** Thrown by a job that wants to run again after so many seconds. */
export class PutOff extends Error {
  override readonly name = 'PutOff';
  readonly seconds: number;

  constructor(message: string, seconds: number) {
    super(message);
    this.seconds = seconds;
  }
}

/** Thrown by a job for which further attempts are useless. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp';
}
