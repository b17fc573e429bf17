import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type Job, type JobHelpers, runTaskList, type WorkerPool } from 'graphile-worker';
import type { Logger } from 'pino';
import { Counter } from 'prom-client';
import type { Parts } from '../core/scope.ts';
import { QUEUE_SCHEMA } from '../database/orm.ts';
import type { Database } from '../database/sql.ts';
import { keepEndings } from './endings.ts';
import { backOffOf, GiveUp, type JobKind, PutOff } from './kind.ts';
import { loggerInto, poolOf } from './library.ts';
import { holdLine } from './line.ts';
import { type Settlement, settleJob } from './queue.repository.ts';
import { createRoom } from './room.ts';
import { watchQueue } from './watch.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly jobs: Jobs;
  }
}

/** How often is looked for jobs whose time has come, and for new ones of which this process was not told. */
const POLL_MS = 2_000;
/** Each of the library's workers polls for itself; one look of ours wakes as many as are needed. */
const NEVER_MS = 2 ** 31 - 1;
/** How long a stopping server lets jobs end, and then how long those that were told to end. */
const CLOSE_GRACE_MS = 3_000;
const END_GRACE_MS = 2_000;

const ended = new Counter({
  name: 'parley_jobs_total',
  help: 'Attempts of jobs that have ended: done, returned (they go on later), retried after an error, or failed for good',
  labelNames: ['kind', 'outcome'],
});

export interface JobLoad {
  /** In this process now. */
  running: number;
  /** Due, in the whole database, some seconds ago. */
  waiting: number;
  /** Failed for good and still kept, in the whole database, some seconds ago. */
  failed: number;
}

/** Runs the jobs of the database in this process. */
export interface Jobs {
  /** Begins to run jobs, with the parts that they work with. */
  begin(parts: Parts): Promise<void>;
  /** By kind. */
  load(): Record<string, JobLoad>;
  /** `failing`: the last look for jobs failed. `ended`: the worker has ended, though the server has not. */
  state(): 'ok' | 'failing' | 'ended';
  /** Waits a moment for what runs, and gives the rest back to be run by another process. */
  close(): Promise<void>;
}

export interface JobsOptions {
  orm: MikroORM;
  sql: Database;
  log: Logger;
  // biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
  kinds: readonly JobKind<any>[];
}

interface Running {
  ending: AbortController;
  kind: string;
}

export function createJobs({ orm, sql, log, kinds }: JobsOptions): Jobs {
  const running = new Map<string, Running>();
  const counts = new Map<string, { waiting: number; failed: number }>();
  const room = createRoom(kinds);
  const endings = keepEndings((error) => log.warn({ err: error }, 'The end of a job could not be written.'));
  let state: 'ok' | 'failing' | 'ended' = 'ok';
  let stop = async () => {};

  async function perform(parts: Parts, kind: JobKind, given: unknown, job: Job): Promise<void> {
    if (!room.take(job)) {
      await endings.write(() => settleJob(sql, job.id, job.locked_by ?? '', RETURNED));
      throw new Error('There is no place for it.');
    }
    const ending = new AbortController();
    running.set(job.id, { ending, kind: kind.name });
    const limit = new AbortController();
    const seconds = kind.timeLimitMs / 1_000;
    const timer = setTimeout(
      () => limit.abort(new Error(`It took longer than ${seconds} s.`)),
      kind.timeLimitMs,
    );
    const signal = AbortSignal.any([ending.signal, limit.signal]);
    try {
      const payload = kind.payload.safeParse(given);
      if (!payload.success) throw new GiveUp(`The payload is none of ${kind.name}: ${payload.error.message}`);
      await untilOverdue(kind.run(parts, payload.data, signal), signal);
      ended.inc({ kind: kind.name, outcome: 'done' });
    } catch (error) {
      const end = ending.signal.aborted ? RETURNED : settlementOf(kind, job, error);
      const known = { err: error, kind: kind.name, job: job.id, attempt: job.attempts };
      if (isExpected(error) || end === RETURNED) log.debug(known, 'A job has ended without success.');
      else log.warn(known, `A job failed${end.as === 'failed' ? ' for good' : '; it is tried again'}.`);
      ended.inc({ kind: kind.name, outcome: end.as });
      await endings.write(() => settleJob(sql, job.id, job.locked_by ?? '', end));
      throw error;
    } finally {
      clearTimeout(timer);
      running.delete(job.id);
      room.leave(job);
    }
  }

  function startPool(parts: Parts, events: EventEmitter): WorkerPool {
    const tasks = kinds.map((kind) => [
      kind.name,
      (payload: unknown, { job }: JobHelpers) => perform(parts, kind, payload, job),
    ]);
    const options = {
      schema: QUEUE_SCHEMA,
      concurrency: kinds.reduce((sum, { concurrency }) => sum + concurrency, 0),
      pollInterval: NEVER_MS,
      minResetLockedInterval: NEVER_MS,
      maxResetLockedInterval: NEVER_MS,
      noHandleSignals: true,
      forbiddenFlags: room.listFull,
      events,
      logger: loggerInto(log),
    };
    return runTaskList(options, Object.fromEntries(tasks), poolOf(sql, endings));
  }

  async function begin(parts: Parts): Promise<void> {
    if (kinds.length === 0) return;
    const events = new EventEmitter();
    const pool = startPool(parts, events);
    const closers: (() => unknown)[] = [];
    let isClosing = false;
    stop = async () => {
      isClosing = true;
      await empty(pool);
      for (const close of closers.reverse()) await close();
    };
    const wake = () => {
      if (state !== 'ended' && !isClosing) pool.nudge(1);
    };
    const noteEnd = (error: unknown) => {
      state = 'ended';
      if (!isClosing) log.error({ err: error }, 'Jobs are not run any more: restart the server.');
    };
    pool.promise.then(noteEnd, noteEnd);
    const noteLook = (now: 'ok' | 'failing') => () => {
      if (state !== 'ended') state = now;
    };
    events.on('worker:getJob:error', noteLook('failing'));
    events.on('worker:getJob:empty', noteLook('ok'));
    events.on('job:start', noteLook('ok'));
    // Where there is one there may be more. Later, as the place of this one is not taken yet.
    events.on('job:start', () => setImmediate(wake));

    closers.push(await holdLine({ orm, workerId: pool.id, log, onJobs: wake }));
    const poll = setInterval(wake, POLL_MS).unref();
    closers.push(() => clearInterval(poll));
    const watch = watchQueue({
      sql,
      workerId: pool.id,
      isRunning: (id) => running.has(id),
      listRunning: () => [...running.keys()],
      onLost: (id) => running.get(id)?.ending.abort(new Error('Another process has taken the job over.')),
      onCounted(counted) {
        counts.clear();
        for (const { kind, ...count } of counted) counts.set(kind, count);
      },
      onError: (error) => log.warn({ err: error }, 'The queue of jobs could not be looked after.'),
    });
    closers.push(() => watch.close());
  }

  /** Lets jobs end, tells those that are late to end, and writes how they did. */
  async function empty(pool: WorkerPool): Promise<void> {
    const closed = Promise.resolve(state === 'ended' ? undefined : pool.gracefulShutdown());
    const grace = new AbortController();
    const late = delay(CLOSE_GRACE_MS, undefined, { signal: grace.signal }).catch(() => {});
    await Promise.race([closed, late]);
    grace.abort();
    for (const { ending } of running.values()) ending.abort(new Error('The server stops.'));
    await closed;
    await endings.close(END_GRACE_MS);
  }

  return {
    begin,
    load: () =>
      Object.fromEntries(
        kinds.map(({ name }) => {
          const now = [...running.values()].filter(({ kind }) => kind === name).length;
          return [name, { running: now, ...(counts.get(name) ?? { waiting: 0, failed: 0 }) }];
        }),
      ),
    state: () => state,
    close: () => stop(),
  };
}

const RETURNED: Settlement = { as: 'returned', waitSeconds: 0, error: null };

const isExpected = (error: unknown) => error instanceof PutOff || error instanceof GiveUp;

function settlementOf(kind: JobKind, { attempts, max_attempts }: Job, thrown: unknown): Settlement {
  const error = thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown instanceof PutOff) return { as: 'returned', waitSeconds: thrown.seconds, error };
  if (thrown instanceof GiveUp || attempts >= max_attempts) return { as: 'failed', waitSeconds: 0, error };
  return { as: 'retried', waitSeconds: backOffOf(kind, attempts), error };
}

/** Waits for work whose signal may fire: then it has a moment to end. */
async function untilOverdue(work: Promise<void>, signal: AbortSignal): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      timer = setTimeout(() => reject(signal.reason), END_GRACE_MS);
    });
  });
  await Promise.race([work, overdue]).finally(() => clearTimeout(timer));
}
