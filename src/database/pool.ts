import type { EventEmitter } from 'node:events';
import type { Pool, PoolClient } from 'pg';
import { AppError } from '../core/errors.ts';
import { currentTurn } from '../core/limits/calls.ts';
import { markOutage } from '../core/outage.ts';
import { type Holder, queueOf, type Waiting, WaitingRequests } from './pool.waiting.ts';

/** The holder of a connection gets its error at once, and has this long to give the connection back. */
const GRACE_MS = 1_000;

interface Client extends EventEmitter {
  release(destroy: boolean): void;
}

/**
 * Takes back connections of a `pg` pool that broke while they were in use. Kysely does not give a connection back when its rollback
 * fails (kysely-org/kysely#1990): a restart of the database would cost a place for each transaction under way, and closing the pool
 * would wait for them for ever.
 */
export function reclaimBroken(pool: EventEmitter): void {
  const held = new Set<Client>();
  pool.on('acquire', (client: Client) => held.add(client));
  pool.on('release', (_error: unknown, client: Client) => held.delete(client));
  pool.on('connect', (client: Client) => {
    // This listener is called before the running statements fail.
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
  /** How many requests wait for one now. */
  waiting: number;
  /** How many requests had to wait, and for how long in all. */
  waits: number;
  waitedMs: number;
  /** How many requests were refused. */
  refused: number;
}

type Taken = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: boolean) => void,
) => void;

/** How many requests may wait for a connection: enough for all clients that come back at once, and a bound on memory. */
const MAX_WAITING = 10_000;
/**
 * Which part of the connections one caller may hold. With 0.4, a caller that searched and listed without a pause made other callers
 * wait up to half a second.
 */
const SHARE_OF_ONE = 0.2;

/** The message of `pg-pool` when no connection came free; also used here. */
const TOO_LATE = 'timeout exceeded when trying to connect';

/**
 * Hands out the connections of a pool from now on: a caller (`core/limits/calls.ts`) holds a fifth of them at most, and callers that
 * wait take turns, however many connections each asks for. A call that holds one already gets its next before all others, because
 * it must go on to give back the first.
 *
 * A wait that lasts as long as the pool lets it is answered `unavailable`: within another error, as services take an `AppError` for
 * an answer to their own question, such as that a caller has no right to something. When very many requests wait already, the next is
 * refused at once: each takes memory.
 *
 * @returns how the connections are used
 */
export function shareConnections(pool: Pool, maxWaiting = MAX_WAITING): () => PoolLoad {
  const shared = new SharedPool(pool, maxWaiting);
  pool.connect = ((taken?: Taken) => {
    if (taken) return shared.request(taken);
    return new Promise<PoolClient>((resolve, reject) => {
      shared.request((error, client) => (client ? resolve(client) : reject(error)));
    });
  }) as Pool['connect'];
  return () => shared.load();
}

class SharedPool {
  readonly #pool: Pool;
  readonly #connect: (taken: Taken) => void;
  readonly #maxWaiting: number;
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #patienceMs: number | undefined;
  #inUse = 0;
  readonly #inUseBy = new Map<string, number>();
  readonly #holders = new WeakMap<PoolClient, { holder: Holder }>();
  readonly #waiting = new WaitingRequests();
  #refused = 0;

  constructor(pool: Pool, maxWaiting: number) {
    this.#pool = pool;
    this.#connect = pool.connect.bind(pool);
    this.#maxWaiting = maxWaiting;
    this.#most = pool.options.max ?? 10;
    this.#mostOfOne = Math.max(1, Math.floor(this.#most * SHARE_OF_ONE));
    this.#patienceMs = pool.options.connectionTimeoutMillis;
    pool.on('release', (_error: unknown, client: PoolClient) => this.#released(client));
  }

  load(): PoolLoad {
    return {
      open: this.#pool.totalCount,
      most: this.#most,
      idle: this.#pool.idleCount,
      waiting: this.#waiting.count,
      waits: this.#waiting.waits,
      waitedMs: this.#waiting.waitedMs,
      refused: this.#refused,
    };
  }

  request(taken: Taken): void {
    const holder = currentTurn();
    if (this.#inUse < this.#most && !this.#isOverShare(holder)) this.#take(holder, taken);
    else if (this.#waiting.count < this.#maxWaiting) this.#wait(holder, taken);
    else {
      this.#waiting.noteRefused();
      process.nextTick(refuse, taken, this.#refusal('too many wait'));
    }
  }

  #wait(holder: Holder, taken: Taken): void {
    const waiting: Waiting = {
      holder,
      queue: queueOf(holder),
      since: performance.now(),
      timer: undefined,
      begin: () => this.#take(holder, taken),
    };
    if (this.#patienceMs) {
      waiting.timer = setTimeout(() => {
        this.#waiting.remove(waiting);
        refuse(taken, this.#refusal(TOO_LATE));
      }, this.#patienceMs).unref();
    }
    this.#waiting.add(waiting);
  }

  /** Takes a connection that must be free, or can be made. */
  #take(holder: Holder, taken: Taken): void {
    this.#hold(holder);
    this.#connect((error, client, done) => {
      if (client) this.#holders.set(client, { holder });
      else this.#giveBack(holder);
      // There was room in the pool: only the database can be the reason that there is no connection.
      const isLate = error?.message === TOO_LATE;
      taken(isLate ? this.#refusal(TOO_LATE) : error && markOutage(error), client, done);
    });
  }

  #released(client: PoolClient): void {
    const held = this.#holders.get(client);
    if (!held) return;
    this.#holders.delete(client);
    this.#giveBack(held.holder);
  }

  readonly #isOverShare = (holder: Holder): boolean =>
    holder !== undefined &&
    holder.connections === 0 &&
    (this.#inUseBy.get(holder.caller) ?? 0) >= this.#mostOfOne;

  #hold(holder: Holder): void {
    this.#inUse += 1;
    if (!holder) return;
    holder.connections += 1;
    this.#inUseBy.set(holder.caller, (this.#inUseBy.get(holder.caller) ?? 0) + 1);
  }

  #giveBack(holder: Holder): void {
    this.#inUse -= 1;
    if (holder) {
      holder.connections -= 1;
      const left = (this.#inUseBy.get(holder.caller) ?? 1) - 1;
      if (left > 0) this.#inUseBy.set(holder.caller, left);
      else this.#inUseBy.delete(holder.caller);
    }
    this.#serveNext();
  }

  #serveNext(): void {
    while (this.#inUse < this.#most && this.#waiting.count > 0) {
      const next = this.#waiting.next(this.#isOverShare);
      if (!next) return;
      this.#waiting.remove(next);
      next.begin();
    }
  }

  #refusal(reason: string): Error {
    this.#refused += 1;
    const cause = new Error(reason);
    const detail = 'The database has too much to do. Try again in a moment.';
    const answer = new AppError('unavailable', { detail, retryAfterSeconds: 1, cause });
    return new Error(`No connection to the database was free: ${reason}`, { cause: answer });
  }
}

const refuse = (taken: Taken, error: Error): void => taken(error, undefined, () => {});
