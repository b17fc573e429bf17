import type { EventEmitter } from 'node:events';
import type { Pool, PoolClient } from 'pg';
import { AppError } from '../core/errors.ts';
import { currentTurn, type Turn } from '../core/limits/calls.ts';
import { markOutage } from '../core/outage.ts';

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
/** Which part of the connections one caller may hold. */
const SHARE_OF_ONE = 0.4;

/** The queue of calls that hold a connection already. */
const HOLDS_ONE = 'holds one';

/** What a connection is for; the server's own work has no turn. */
type Holder = Turn | undefined;

interface Waiting {
  holder: Holder;
  since: number;
  timer: NodeJS.Timeout | undefined;
  begin(): void;
  refuse(error: Error): void;
}

/** What `pg-pool` says when no connection came free; also said here. */
const TOO_LATE = 'timeout exceeded when trying to connect';

/**
 * Hands out the connections of a pool from now on: a caller (`core/limits/calls.ts`) holds four in ten of them at most, and callers that
 * wait take turns, however many connections each asks for. A call that holds one already gets its next before all others, since
 * it could not go on to give back the first.
 *
 * A wait that lasts as long as the pool lets it is answered `unavailable`: within another error, as services take an `AppError` for
 * what they asked to know, such as that a caller has no right to something. When very many wait already, the next is refused at
 * once: each takes its memory.
 *
 * @returns what tells how the connections are used
 */
export function shareConnections(pool: Pool, maxWaiting = MAX_WAITING): () => PoolLoad {
  const connect = pool.connect.bind(pool) as (taken?: Taken) => Promise<PoolClient> | undefined;
  const most = pool.options.max ?? 10;
  const mostOfOne = Math.max(1, Math.floor(most * SHARE_OF_ONE));
  const patienceMs = pool.options.connectionTimeoutMillis;
  let inUse = 0;
  const inUseBy = new Map<string, number>();
  const holders = new WeakMap<PoolClient, { holder: Holder }>();
  /** By caller; the one that is served next comes first. */
  const queues = new Map<string, Set<Waiting>>();
  let waitingCount = 0;
  let waits = 0;
  let waitedMs = 0;
  let refused = 0;

  const isOverShare = (holder: Holder) =>
    holder !== undefined && holder.connections === 0 && (inUseBy.get(holder.caller) ?? 0) >= mostOfOne;

  function hold(holder: Holder): void {
    inUse += 1;
    if (!holder) return;
    holder.connections += 1;
    inUseBy.set(holder.caller, (inUseBy.get(holder.caller) ?? 0) + 1);
  }

  function giveBack(holder: Holder): void {
    inUse -= 1;
    if (holder) {
      holder.connections -= 1;
      const left = (inUseBy.get(holder.caller) ?? 1) - 1;
      if (left > 0) inUseBy.set(holder.caller, left);
      else inUseBy.delete(holder.caller);
    }
    serveNext();
  }

  pool.on('release', (_error: unknown, client: PoolClient) => {
    const held = holders.get(client);
    if (!held) return;
    holders.delete(client);
    giveBack(held.holder);
  });

  /** Takes a connection that must be free, or can be made. */
  function take(holder: Holder, taken: Taken): void {
    hold(holder);
    connect((error, client, done) => {
      if (client) holders.set(client, { holder });
      else giveBack(holder);
      // There was room in the pool: only the database can be the reason that there is no connection.
      const isLate = error?.message === TOO_LATE;
      taken(isLate ? refusal(TOO_LATE) : error && markOutage(error), client, done);
    });
  }

  const queueOf = ({ holder }: Waiting) => (holder?.connections ? HOLDS_ONE : (holder?.caller ?? ''));

  function enqueue(waiting: Waiting): void {
    const name = queueOf(waiting);
    const queue = queues.get(name) ?? new Set();
    queues.set(name, queue.add(waiting));
    waitingCount += 1;
    if (waiting.holder) waiting.holder.awaited += 1;
  }

  function leave(name: string, waiting: Waiting): void {
    const queue = queues.get(name);
    if (!queue?.delete(waiting)) return;
    waitingCount -= 1;
    if (waiting.holder) waiting.holder.awaited -= 1;
    clearTimeout(waiting.timer);
    waits += 1;
    waitedMs += performance.now() - waiting.since;
    queues.delete(name);
    // The others are served before this caller's next.
    if (queue.size > 0) queues.set(name, queue);
  }

  function findNext(): [string, Waiting] | undefined {
    const [before] = queues.get(HOLDS_ONE) ?? [];
    if (before) return [HOLDS_ONE, before];
    for (const [name, queue] of queues) {
      const [first] = queue;
      if (first && !isOverShare(first.holder)) return [name, first];
    }
    return undefined;
  }

  function serveNext(): void {
    while (inUse < most && waitingCount > 0) {
      const next = findNext();
      if (!next) return;
      leave(...next);
      next[1].begin();
    }
  }

  function refusal(reason: string): Error {
    refused += 1;
    const cause = new Error(reason);
    const detail = 'The database has too much to do. Try again in a moment.';
    const answer = new AppError('unavailable', { detail, retryAfterSeconds: 1, cause });
    return new Error(`No connection to the database was free: ${reason}`, { cause: answer });
  }

  function request(taken: Taken): void {
    const holder = currentTurn();
    if (inUse < most && !isOverShare(holder)) {
      take(holder, taken);
      return;
    }
    const refuse = (error: Error) => taken(error, undefined, () => {});
    if (waitingCount >= maxWaiting) {
      waits += 1;
      process.nextTick(refuse, refusal('too many wait'));
      return;
    }
    const waiting: Waiting = {
      holder,
      since: performance.now(),
      timer: undefined,
      begin: () => take(holder, taken),
      refuse,
    };
    const name = queueOf(waiting);
    if (patienceMs) {
      waiting.timer = setTimeout(() => {
        leave(name, waiting);
        refuse(refusal(TOO_LATE));
      }, patienceMs).unref();
    }
    enqueue(waiting);
  }

  pool.connect = ((taken?: Taken) => {
    if (taken) return request(taken);
    return new Promise<PoolClient>((resolve, reject) => {
      request((error, client) => (client ? resolve(client) : reject(error)));
    });
  }) as Pool['connect'];

  return () => ({
    open: pool.totalCount,
    most,
    idle: pool.idleCount,
    waiting: waitingCount,
    waits,
    waitedMs,
    refused,
  });
}
