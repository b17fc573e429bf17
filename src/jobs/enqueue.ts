import type { Sql } from '../database/sql.ts';
import type { JobKind } from './kind.ts';
import { insertJobs } from './queue.repository.ts';

export interface JobOptions {
  /** A job of the kind with this id that still waits is replaced. The key unless given. */
  id?: string | undefined;
  /** Two jobs of the kind with one key never run at once. Few different ones: each is a row that every pick-up looks at. */
  key?: string | undefined;
  /** At once unless given. */
  runAt?: Date | undefined;
  /** What many jobs of the kind share, such as a server that they go to: `laneConcurrency` bounds how many of a lane run. */
  lane?: string | undefined;
}

/**
 * Stores a job in the caller's transaction: it runs when, and only when, that is committed.
 *
 * @throws ZodError for a payload that the kind does not take
 */
export const enqueue = <Payload>(
  tx: Sql,
  kind: JobKind<Payload>,
  payload: Payload,
  options: JobOptions = {},
): Promise<void> => enqueueAll(tx, kind, [{ payload, ...options }]);

/** The same for many, in one statement; no two of them may have one id. */
export async function enqueueAll<Payload>(
  tx: Sql,
  kind: JobKind<Payload>,
  jobs: ({ payload: Payload } & JobOptions)[],
): Promise<void> {
  if (jobs.length === 0) return;
  const specs = jobs.map(({ payload, key, id = key, runAt, lane }) => ({
    identifier: kind.name,
    payload: kind.payload.parse(payload),
    queue_name: key === undefined ? null : nameWithin(kind, key),
    run_at: runAt?.toISOString() ?? null,
    max_attempts: kind.attempts,
    job_key: id === undefined ? null : nameWithin(kind, id),
    flags: lane === undefined ? [kind.name] : [kind.name, nameWithin(kind, lane)],
  }));
  await insertJobs(tx, specs);
}

/** What a name of a kind's own, such as a lane, is called among those of all kinds. */
export const nameWithin = ({ name }: Pick<JobKind, 'name'>, own: string): string => `${name}/${own}`;
