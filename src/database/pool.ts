import type { EventEmitter } from 'node:events';
import type { Pool, PoolClient } from 'pg';
import { AppError } from '../core/errors.ts';
import { markOutage } from './outage.ts';

/** Whoever holds a connection gets its error at once; what they have not given back by then is lost to them. */
const GRACE_MS = 1_000;

interface Client extends EventEmitter {
  release(destroy: boolean): void;
}

/**
 * Takes back connections of a `pg` pool that broke while somebody held them. Kysely does not give one back when its rollback
 * fails (kysely-org/kysely#1990): a restart of the database would cost a place for each transaction under way, and closing
 * the pool would wait for them for ever.
 */
export function reclaimBroken(pool: EventEmitter): void {
  const held = new Set<Client>();
  pool.on('acquire', (client: Client) => held.add(client));
  pool.on('release', (_error: unknown, client: Client) => held.delete(client));
  pool.on('connect', (client: Client) => {
    // Told before the statements that were under way on it.
    client.on('error', markOutage);
    client.once('end', () => {
      setTimeout(() => {
        if (held.has(client)) client.release(true);
      }, GRACE_MS).unref();
    });
  });
}

export interface PoolLoad {
  open: number;
  /** How many there may be. */
  most: number;
  idle: number;
  /** Who waits for one now. */
  waiting: number;
  /** How often somebody had to wait, and for how long in all. */
  waits: number;
  waitedMs: number;
  /** How many waits were given up. */
  refused: number;
}

type Taken = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: boolean) => void,
) => void;

/** How many may wait for a connection: a crowd that comes back at once, but not what anybody sends to have it wait. */
const MAX_WAITING = 10_000;

/** What `pg-pool` says when no connection came free, and what is said here when too many wait for one. */
const WAITED = /^(timeout exceeded when trying to connect|too many wait)$/;

/**
 * Measures from now on how long is waited for a connection of a pool while all are in use. Whoever waits in vain, for as long as
 * the pool lets them, is answered `unavailable`: within another error, as services take an `AppError` for what they asked to know,
 * such as that somebody has no right to something. When very many wait already, the next is told so at once: each takes its memory.
 *
 * @returns what tells how it stands
 */
export function watchWaits(pool: Pool, maxWaiting = MAX_WAITING): () => PoolLoad {
  const connect = pool.connect.bind(pool) as (taken?: Taken) => Promise<PoolClient> | undefined;
  const most = pool.options.max ?? 0;
  const mustWait = () => pool.totalCount >= most && pool.idleCount <= pool.waitingCount;
  let waits = 0;
  let waitedMs = 0;
  let refused = 0;

  /** Where there is room in the pool, only the database can be the reason that there is no connection. */
  function connecting(taken?: Taken): Promise<PoolClient> | undefined {
    if (taken) return connect((error, client, done) => taken(error && markOutage(error), client, done));
    return connect()?.catch((error) => {
      throw markOutage(error);
    });
  }

  function timed(taken?: Taken): Promise<PoolClient> | undefined {
    if (!mustWait()) return connecting(taken);
    const since = performance.now();
    const ended = (error?: Error): Error | undefined => {
      waits += 1;
      waitedMs += performance.now() - since;
      if (!error) return undefined;
      // The pool's own; what else can happen is that there is no database to connect to.
      if (!WAITED.test(error.message)) return markOutage(error);
      refused += 1;
      const detail = 'The database has too much to do. Try again in a moment.';
      const answer = new AppError('unavailable', { detail, retryAfterSeconds: 1, cause: error });
      return new Error(`No connection to the database was free: ${error.message}`, { cause: answer });
    };
    if (pool.waitingCount >= maxWaiting) {
      const refusal = ended(new Error('too many wait'));
      if (!taken) return Promise.reject(refusal);
      process.nextTick(taken, refusal, undefined, () => {});
      return undefined;
    }
    if (taken) return connect((error, client, done) => taken(ended(error), client, done));
    return connect()?.then(
      (client) => {
        ended();
        return client;
      },
      (error) => {
        throw ended(error);
      },
    );
  }
  pool.connect = timed as Pool['connect'];

  return () => ({
    open: pool.totalCount,
    most,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
    waits,
    waitedMs,
    refused,
  });
}
