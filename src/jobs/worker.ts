import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import { type JobHelpers, runTaskList, type WorkerPool } from 'graphile-worker';
import type { Logger } from 'pino';
import type { Parts } from '../core/scope.ts';
import { QUEUE_SCHEMA } from '../database/orm.ts';
import type { Database } from '../database/sql.ts';
import { Attempts, END_GRACE_MS } from './attempts.ts';
import { type Endings, keepEndings } from './endings.ts';
import type { JobKind } from './kind.ts';
import { loggerInto, poolOf } from './library.ts';
import { holdLine } from './line.ts';
import { createRoom, type Room } from './room.ts';
import { watchQueue } from './watch.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly jobs: Jobs;
  }
}

/** Interval of the look for due jobs, and for new ones that this process was not told of. */
const POLL_MS = 2_000;
/** Each of the library's workers would poll for itself; our poll wakes as many as are needed. */
const NEVER_MS = 2 ** 31 - 1;
/** How long jobs may go on when the server stops, before they are told to end. */
const CLOSE_GRACE_MS = 3_000;

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
  /** `failing`: the last pick-up failed. `ended`: the worker has ended, though the server has not. */
  state(): 'ok' | 'failing' | 'ended';
  /** Waits a moment for running jobs, and returns the rest to the queue for another process. */
  close(): Promise<void>;
}

export interface JobsOptions {
  orm: MikroORM;
  sql: Database;
  log: Logger;
  // biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
  kinds: readonly JobKind<any>[];
}

export const createJobs = (options: JobsOptions): Jobs => new Worker(options);

class Worker implements Jobs {
  readonly #options: JobsOptions;
  readonly #room: Room;
  readonly #endings: Endings;
  readonly #attempts: Attempts;
  /** By kind, from the last count of the queue. */
  readonly #counts = new Map<string, { waiting: number; failed: number }>();
  /** What `close` stops, in the order of its start. */
  readonly #closers: (() => unknown)[] = [];
  #pool: WorkerPool | undefined;
  #state: 'ok' | 'failing' | 'ended' = 'ok';
  #isClosing = false;

  constructor(options: JobsOptions) {
    const { sql, log, kinds } = options;
    this.#options = options;
    this.#room = createRoom(kinds);
    this.#endings = keepEndings((error) =>
      log.warn({ err: error }, 'The end of a job could not be written.'),
    );
    this.#attempts = new Attempts({ sql, log, room: this.#room, endings: this.#endings });
  }

  async begin(parts: Parts): Promise<void> {
    const { orm, log, kinds } = this.#options;
    if (kinds.length === 0) return;
    const pool = this.#startPool(parts);
    this.#pool = pool;
    this.#closers.push(await holdLine({ orm, workerId: pool.id, log, onJobs: this.#wake }));
    const poll = setInterval(this.#wake, POLL_MS).unref();
    this.#closers.push(() => clearInterval(poll));
    const watch = this.#watch(pool.id);
    this.#closers.push(() => watch.close());
  }

  load(): Record<string, JobLoad> {
    return Object.fromEntries(
      this.#options.kinds.map(({ name }) => {
        const running = this.#attempts.countOf(name);
        return [name, { running, ...(this.#counts.get(name) ?? { waiting: 0, failed: 0 }) }];
      }),
    );
  }

  state(): 'ok' | 'failing' | 'ended' {
    return this.#state;
  }

  async close(): Promise<void> {
    if (!this.#pool) return;
    this.#isClosing = true;
    await this.#empty(this.#pool);
    for (const close of this.#closers.reverse()) await close();
  }

  #startPool(parts: Parts): WorkerPool {
    const { sql, log, kinds } = this.#options;
    const tasks = kinds.map((kind) => [
      kind.name,
      (payload: unknown, { job }: JobHelpers) => this.#attempts.perform(parts, kind, payload, job),
    ]);
    const workers = kinds.reduce((sum, { concurrency }) => sum + concurrency, 0);
    const options = {
      schema: QUEUE_SCHEMA,
      concurrency: workers,
      pollInterval: NEVER_MS,
      minResetLockedInterval: NEVER_MS,
      maxResetLockedInterval: NEVER_MS,
      noHandleSignals: true,
      forbiddenFlags: this.#room.listFull,
      events: this.#eventsOfPool(),
      logger: loggerInto(log),
    };
    const pool = runTaskList(options, Object.fromEntries(tasks), poolOf(sql, this.#endings, workers));
    pool.promise.then(this.#noteEnd, this.#noteEnd);
    return pool;
  }

  #eventsOfPool(): EventEmitter {
    const events = new EventEmitter();
    const noteLook = (now: 'ok' | 'failing') => () => {
      if (this.#state !== 'ended') this.#state = now;
    };
    events.on('worker:getJob:error', noteLook('failing'));
    events.on('worker:getJob:empty', noteLook('ok'));
    events.on('job:start', noteLook('ok'));
    // There may be more jobs. In the next turn, because the place of this one is not taken yet.
    events.on('job:start', () => setImmediate(this.#wake));
    return events;
  }

  readonly #wake = (): void => {
    if (this.#state !== 'ended' && !this.#isClosing) this.#pool?.nudge(1);
  };

  readonly #noteEnd = (error: unknown): void => {
    this.#state = 'ended';
    if (!this.#isClosing)
      this.#options.log.error({ err: error }, 'Jobs are not run any more: restart the server.');
  };

  #watch(workerId: string): { close(): Promise<void> } {
    const { sql, log } = this.#options;
    return watchQueue({
      sql,
      workerId,
      isRunning: (id) => this.#attempts.has(id),
      listRunning: () => this.#attempts.ids,
      onLost: (id) => this.#attempts.end(id, new Error('Another process has taken the job over.')),
      onCounted: (counted) => {
        this.#counts.clear();
        for (const { kind, ...count } of counted) this.#counts.set(kind, count);
      },
      onError: (error) => log.warn({ err: error }, 'The queue of jobs could not be looked after.'),
    });
  }

  /** Waits for running jobs, tells late ones to end, and waits for the writes of their ends. */
  async #empty(pool: WorkerPool): Promise<void> {
    const closed = Promise.resolve(this.#state === 'ended' ? undefined : pool.gracefulShutdown());
    const grace = new AbortController();
    const late = delay(CLOSE_GRACE_MS, undefined, { signal: grace.signal }).catch(() => {});
    await Promise.race([closed, late]);
    grace.abort();
    this.#attempts.endAll(new Error('The server stops.'));
    await closed;
    await this.#endings.close(END_GRACE_MS);
  }
}
