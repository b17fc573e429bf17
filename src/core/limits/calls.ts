import { AppError } from '../errors.ts';
import { LIMITS } from '../wire.ts';
import { currentWork, runAs, Turn, Work } from '../work.ts';
import { toNetwork } from './network.ts';

/** How many calls of one caller run at a time. */
const MAX_RUNNING = 32;
/** How many more calls may wait, and the bound on the total size of their bodies. */
const MAX_WAITING = 512;
const MAX_WAITING_BYTES = 8 * LIMITS.bodyBytes;
/**
 * A call that runs longer, and does not wait for the database, waits for a tool, another server or a file. It
 * gives its turn to the caller's next call, which may be the call that it waits for.
 */
const LONG_MS = 1000;
const MAX_LONG = 256;

export interface CallOptions {
  /** Size of the body. */
  bytes?: number | undefined;
  /** Aborts when the caller has gone: a waiting call is dropped. */
  signal?: AbortSignal | undefined;
}

/** The caller id of a call without credentials: its network. */
export const networkCaller = (ip: string): string => `network ${toNetwork(ip)}`;

interface Waiting {
  bytes: number;
  signal: AbortSignal | undefined;
  begin(turn: Turn): void;
  drop(reason: unknown): void;
}

/** The calls of one caller in this process. */
class CallQueue {
  readonly #caller: string;
  /** In the order of their start. */
  readonly #running = new Set<Turn>();
  #long = 0;
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>();
  #waitingBytes = 0;
  #isDue = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(caller: string) {
    this.#caller = caller;
  }

  get isEmpty(): boolean {
    return this.#running.size === 0 && this.#long === 0 && this.#waiting.size === 0;
  }

  take({ bytes = 0, signal }: CallOptions): Turn | Promise<Turn> {
    if (this.#waiting.size === 0 && this.#hasRoom()) return this.#begin();
    const isTooMuch = this.#waiting.size > 0 && this.#waitingBytes + bytes > MAX_WAITING_BYTES;
    if (this.#waiting.size >= MAX_WAITING || isTooMuch) {
      const detail = `${this.#waiting.size} of your calls wait already. Await some answers before the next call.`;
      throw new AppError('rate_limited', { detail, retryAfterSeconds: 1 });
    }
    this.#waitingBytes += bytes;
    this.#wakeLater();
    return new Promise((begin, drop) => this.#waiting.add({ bytes, signal, begin, drop }));
  }

  end(turn: Turn): void {
    if (!this.#running.delete(turn)) this.#long -= 1;
    if (this.#waiting.size > 0) this.#grantSoon();
    else if (this.isEmpty) this.#forget();
  }

  /** Gives the turn of a call to the next one now, not after `LONG_MS`. */
  expectLong(turn: Turn): void {
    if (this.#long >= MAX_LONG || !this.#running.delete(turn)) return;
    this.#long += 1;
    if (this.#waiting.size > 0) this.#grantSoon();
  }

  #begin(): Turn {
    const turn = new Turn(this.#caller);
    this.#running.add(turn);
    return turn;
  }

  #hasRoom(): boolean {
    if (this.#running.size < MAX_RUNNING) return true;
    const now = performance.now();
    for (const turn of this.#running) {
      if (now - turn.startedAt < LONG_MS || this.#long >= MAX_LONG) break;
      if (turn.connections + turn.awaited > 0) continue;
      this.#running.delete(turn);
      this.#long += 1;
    }
    return this.#running.size < MAX_RUNNING;
  }

  /** In another turn of the event loop: a series of short calls must not occupy the loop. */
  #grantSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#grant();
    });
  }

  #grant(): void {
    for (const waiting of this.#waiting) {
      const isGone = waiting.signal?.aborted === true;
      if (!isGone && !this.#hasRoom()) break;
      this.#waiting.delete(waiting);
      this.#waitingBytes -= waiting.bytes;
      if (isGone) waiting.drop(waiting.signal?.reason);
      else waiting.begin(this.#begin());
    }
    if (this.#waiting.size > 0) this.#wakeLater();
    else if (this.isEmpty) this.#forget();
  }

  /** A running call becomes long without an event, so a timer wakes the queue. */
  #wakeLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#grant();
    }, LONG_MS).unref();
  }

  #forget(): void {
    clearTimeout(this.#timer);
    queues.delete(this.#caller);
  }
}

/** By caller: a person's id, or `networkCaller`. A caller without running or waiting calls has no queue. */
const queues = new Map<string, CallQueue>();

/** The call that the running code belongs to; undefined for the server's own work. */
export const currentTurn = (): Turn | undefined => currentWork()?.turn;

/** Says that the running call will mostly wait for another server: the next call of its caller need not wait until that shows. */
export function expectLong(): void {
  const turn = currentTurn();
  if (turn) queues.get(turn.caller)?.expectLong(turn);
}

/**
 * Runs a call when its caller has a turn. Callers do not wait for each other here: each has its own turns and
 * its own queue.
 *
 * @param caller a person's id, or `networkCaller`
 * @throws rate_limited when too many calls of the caller wait
 */
export async function runCall<T>(
  caller: string,
  options: CallOptions,
  work: () => T | Promise<T>,
): Promise<T> {
  let queue = queues.get(caller);
  if (!queue) {
    queue = new CallQueue(caller);
    queues.set(caller, queue);
  }
  const taken = queue.take(options);
  const turn = taken instanceof Turn ? taken : await taken;
  const { requestId = '', span } = currentWork() ?? {};
  try {
    return await runAs(new Work(requestId, turn, span), work);
  } finally {
    queue.end(turn);
  }
}
