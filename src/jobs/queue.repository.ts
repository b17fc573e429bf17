import { type Database, type Sql, statement } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';

/*
 * The tables belong to the library. Its functions and views are used where possible; its private tables are written for operations that
 * it lacks: our own wait after a failure, and the return of a running job. They may change with any version, so the version is pinned.
 */

const INSERT = statement<never, { specs: string }>(
  'jobs.insert',
  `select from graphile_worker.add_jobs(array(
     select (identifier, payload, queue_name, run_at, max_attempts, job_key, null, flags)::graphile_worker.job_spec
       from jsonb_to_recordset(:specs::jsonb) as s (identifier text, payload json, queue_name text, run_at timestamptz,
            max_attempts smallint, job_key text, flags text[])))`,
);

export interface JobSpec {
  identifier: string;
  payload: unknown;
  queue_name: string | null;
  run_at: string | null;
  max_attempts: number;
  job_key: string | null;
  flags: string[];
}

export const insertJobs = (tx: Sql, specs: JobSpec[]): Promise<unknown> =>
  tx.rows(INSERT, { specs: JSON.stringify(specs) });

const SETTLE = statement<
  never,
  { jobId: string; workerId: string; as: Settlement['as']; waitSeconds: number; error: string | null }
>(
  'jobs.settle',
  `with job as (
     update graphile_worker._private_jobs
        set locked_by = null, locked_at = null, updated_at = now(), run_at = now() + :waitSeconds * interval '1 second',
            last_error = coalesce(:error, last_error),
            attempts = case :as when 'returned' then greatest(attempts - 1, 0) when 'failed' then max_attempts else attempts end
      where id = :jobId::bigint and locked_by = :workerId
     returning job_queue_id
   )
   update graphile_worker._private_job_queues q set locked_by = null, locked_at = null
     from job where q.id = job.job_queue_id and q.locked_by = :workerId`,
);

export interface Settlement {
  /** `returned`: the attempt does not count. `failed`: there is no further attempt. */
  as: 'returned' | 'retried' | 'failed';
  waitSeconds: number;
  error: string | null;
}

/** Returns a job of this worker to the queue, unless the worker has lost it. */
export const settleJob = (
  sql: Sql,
  jobId: string,
  workerId: string,
  { as, waitSeconds, error }: Settlement,
): Promise<unknown> => sql.rows(SETTLE, { jobId, workerId, as, waitSeconds, error });

const HELD = statement<{ id: string; is_old: boolean }, { workerId: string }>(
  'jobs.held',
  `select id::text, locked_at < now() - interval '30 seconds' as is_old
     from graphile_worker._private_jobs where locked_by = :workerId`,
);

/** The jobs that a worker has according to the database. */
export const listHeld = (sql: Sql, workerId: string): Promise<{ id: string; is_old: boolean }[]> =>
  sql.rows(HELD, { workerId });

/** The first half of the advisory lock of a worker: any constant that is the same in every server. */
const WORKER_LOCKS = 7_011_506;

/** The statements of the line of a worker: its lock, which ends with the connection, and the notices of new jobs. */
export const HOLD_LOCK = {
  lock: statement<never, { workerId: string }>(
    'jobs.hold',
    `select pg_advisory_lock(${WORKER_LOCKS}, hashtext(:workerId))`,
  ),
  listen: 'listen "jobs:insert"',
};

const ORPHANING = statement<{ worker: string }, { workerId: string }>(
  'jobs.orphaning',
  `select worker from (
     select locked_by as worker from graphile_worker._private_jobs where locked_by is not null
      union select locked_by from graphile_worker._private_job_queues where locked_by is not null
   ) holder where worker <> :workerId and pg_try_advisory_xact_lock(${WORKER_LOCKS}, hashtext(worker))`,
);

/** The workers, other than this one, that have jobs and do not hold their locks. */
export const listOrphaning = async (sql: Sql, workerId: string): Promise<string[]> =>
  (await sql.rows(ORPHANING, { workerId })).map(({ worker }) => worker);

const STILL_GONE = statement<{ worker: string }, { workerIds: string[] }>(
  'jobs.still-gone',
  `select worker from unnest(:workerIds::text[]) worker where pg_try_advisory_xact_lock(${WORKER_LOCKS}, hashtext(worker))`,
);
const RELEASE = statement<never, { workerIds: string[] }>(
  'jobs.release',
  `select graphile_worker.force_unlock_workers(:workerIds), pg_notify('jobs:insert', '{"count":1}')`,
);

/** Releases the jobs of workers that do not hold their locks. @returns the workers */
export const releaseJobsOf = (sql: Database, workerIds: string[]): Promise<string[]> =>
  transaction({ sql }, async (tx) => {
    // Locked to the end of the transaction: a worker that comes back waits for it.
    const gone = (await tx.rows(STILL_GONE, { workerIds })).map(({ worker }) => worker);
    if (gone.length > 0) await tx.rows(RELEASE, { workerIds: gone });
    return gone;
  });

const COUNT = statement<{ kind: string; waiting: number; failed: number }>(
  'jobs.count',
  `select task_identifier as kind, count(*) filter (where attempts < max_attempts and run_at <= now())::int as waiting,
          count(*) filter (where attempts >= max_attempts)::int as failed
     from graphile_worker.jobs where locked_at is null group by 1`,
);

/** For each kind, how many jobs are due, and how many failed for good and are still kept. */
export const countJobs = (sql: Sql): Promise<{ kind: string; waiting: number; failed: number }[]> =>
  sql.rows(COUNT);

const FORGET_FAILED = statement<never, { days: number }>(
  'jobs.forget-failed',
  `delete from graphile_worker._private_jobs
    where locked_at is null and attempts >= max_attempts and updated_at < now() - :days * interval '1 day'`,
);
const FORGET_KEYS = statement<never>(
  'jobs.forget-keys',
  `delete from graphile_worker._private_job_queues q
    where locked_at is null and not exists (select from graphile_worker._private_jobs j where j.job_queue_id = q.id)`,
);

/** Deletes jobs that failed more than so many days ago, and keys without jobs. */
export async function forgetJobs(sql: Sql, days: number): Promise<void> {
  await sql.rows(FORGET_FAILED, { days });
  await sql.rows(FORGET_KEYS);
}
