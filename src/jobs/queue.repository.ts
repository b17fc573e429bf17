import { type Database, type Sql, statement } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';

/*
 * The tables are the library's. Its functions and views do where they can; its private tables are written where it has no way to:
 * a wait of our own after a failure, and the return of a job that runs. They may change with any version, so that is pinned.
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
  /** `returned`: the attempt does not count. `failed`: there is no other. */
  as: 'returned' | 'retried' | 'failed';
  waitSeconds: number;
  error: string | null;
}

/** Gives a job back that this worker has, unless it has it no more. */
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

/** The jobs that a worker has by the database's account. */
export const listHeld = (sql: Sql, workerId: string): Promise<{ id: string; is_old: boolean }[]> =>
  sql.rows(HELD, { workerId });

/** The first half of the advisory lock of a worker; any constant will do, as long as every server asks for the same. */
const WORKER_LOCKS = 7_011_506;

/** What the connection of a worker asks: its lock, which ends with it however it ends, and to be told of new jobs. */
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

/** Releases the jobs of workers, but of none that holds its lock. @returns of which */
export const releaseJobsOf = (sql: Database, workerIds: string[]): Promise<string[]> =>
  transaction({ sql }, async (tx) => {
    // Locked to the end of the transaction: one that comes back waits until this is done.
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

/** How many jobs of each kind are due and wait, and how many failed for good and are still kept. */
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

/** Forgets jobs that failed longer ago than so many days, and keys that no job has. */
export async function forgetJobs(sql: Sql, days: number): Promise<void> {
  await sql.rows(FORGET_FAILED, { days });
  await sql.rows(FORGET_KEYS);
}
