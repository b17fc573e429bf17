import type { Sql } from '../database/sql.ts';
import { causeNow } from './cause.ts';
import type { JobKind } from './kind.ts';
import { insertJobs } from './queue.repository.ts';

export interface JobOptions {
  /** Replaces a waiting job of the kind with this id. The key unless given. */
  id?: string | undefined;
  /** Two jobs of the kind with one key never run at once. Use few keys: each is a row that every pick-up reads. */
  key?: string | undefined;
  /** At once unless given. */
  runAt?: Date | undefined;
  /** A thing that many jobs of the kind share, such as a target server: `laneConcurrency` bounds how many of a lane run. */
  lane?: string | undefined;
}

/**
 * Stores a job in the caller's transaction: it runs only if that commits.
 *
 * @throws ZodError for a payload that does not fit the kind
 */
export const enqueue = <Payload>(
  tx: Sql,
  kind: JobKind<Payload>,
  payload: Payload,
  options: JobOptions = {},
): Promise<void> => enqueueAll(tx, kind, [{ payload, ...options }]);

/** The same for many jobs with different ids, in one statement. */
export async function enqueueAll<Payload>(
  tx: Sql,
  kind: JobKind<Payload>,
  jobs: ({ payload: Payload } & JobOptions)[],
): Promise<void> {
  if (jobs.length === 0) return;
  const cause = causeNow();
  const specs = jobs.map(({ payload, key, id = key, runAt, lane }) => ({
    identifier: kind.name,
    payload: { ...kind.payload.parse(payload), ...(cause && { cause }) },
    queue_name: key === undefined ? null : nameWithin(kind, key),
    run_at: runAt?.toISOString() ?? null,
    max_attempts: kind.attempts,
    job_key: id === undefined ? null : nameWithin(kind, id),
    flags: lane === undefined ? [kind.name] : [kind.name, nameWithin(kind, lane)],
  }));
  await insertJobs(tx, specs);
}

/** The name of a key, id or lane of a kind, unique among all kinds. */
export const nameWithin = ({ name }: Pick<JobKind, 'name'>, own: string): string => `${name}/${own}`;
