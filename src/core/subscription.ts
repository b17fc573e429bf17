import type { EventEmitter } from 'node:events';
import { AppError } from './errors.ts';

/**
 * The state that the subscription of a run waits for: there is news, access must be checked anew, or it is over. Marks are kept, not
 * queued, so a slow subscriber costs no more than a fast one. Streams have an engine of their own (`events/subscriber/subscriber.ts`).
 */
export class Inbox {
  readonly #endings: (() => void)[] = [];
  #news = false;
  #recheck = false;
  #failure: AppError | undefined;
  #over = false;
  #closed = false;
  #wake: (() => void) | undefined;

  constructor(signal: AbortSignal | undefined) {
    // A subscriber may go away before the first wait: then no `finally` closes this.
    const leave = () => {
      this.end();
      this.close();
    };
    signal?.addEventListener('abort', leave, { once: true });
    this.onClose(() => signal?.removeEventListener('abort', leave));
    if (signal?.aborted) leave();
  }

  /** Registers a function for `close`; calls it at once when it is closed already. */
  onClose(undo: () => void): void {
    if (this.#closed) undo();
    else this.#endings.push(undo);
  }

  news(): void {
    this.#news = true;
    this.#wake?.();
  }

  /** Access must be checked anew. */
  recheck(): void {
    this.#recheck = true;
    this.#wake?.();
  }

  /** Ends the wait; with a failure the next `next()` throws it. */
  end(failure?: AppError): void {
    this.#over = true;
    this.#failure ??= failure;
    this.#wake?.();
  }

  /** Whether the subscriber must look at `next()` before it goes on: it is over, or access is in doubt. */
  get interrupted(): boolean {
    return this.#over || this.#recheck;
  }

  /** Waits for a mark and returns the marks since the last call; null when it is over. */
  async next(): Promise<{ recheck: boolean } | null> {
    while (!this.#news && !this.#recheck && !this.#over) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    if (this.#failure) throw this.#failure;
    if (this.#over) return null;
    const marks = { recheck: this.#recheck };
    this.#news = false;
    this.#recheck = false;
    return marks;
  }

  close(): void {
    this.#closed = true;
    for (const undo of this.#endings.splice(0)) undo();
  }
}

export type ItemKind = 'event' | 'notice';

/** The connection to the client of a subscription. */
export interface Outlet {
  /** Whether the client has left so much unread that more should wait. */
  readonly full: boolean;
  /** Resolves when it is not full any more, or at its end. */
  drained(): Promise<void>;
  /**
   * Sends one item of a call's subscription at once, past tRPC's loop over its items (`doors/trpc/trpc.direct.ts`). Absent on an outlet
   * that belongs to no call.
   *
   * @param id the cursor that the client resumes by; of a notice that of the event before, null before the first event
   */
  send?(kind: ItemKind, item: { readonly text: string }, id: string | null): void;
}

/**
 * An outlet over a connection.
 *
 * @param connection emits `drain` whenever it can take more, and `close` at its end
 * @param isFull     must be false after `close`
 */
export function outletOver(connection: EventEmitter, isFull: () => boolean): Outlet {
  let next: Promise<void> | undefined;
  const nextDrain = () => {
    // One listener for all waits.
    next ??= new Promise((resolve) => {
      const settle = () => {
        connection.off('drain', settle).off('close', settle);
        next = undefined;
        resolve();
      };
      connection.on('drain', settle).on('close', settle);
    });
    return next;
  };
  return {
    get full() {
      return isFull();
    },
    async drained() {
      while (isFull()) await nextDrain();
    },
  };
}

/** How many subscriptions one connection may have. */
const MAX_SUBSCRIPTIONS = 100;
/** How many connections with subscriptions one account may have in this process. */
const MAX_CONNECTIONS = 100;
/** How many subscriptions these may have together: each event goes to each of them while other callers wait. */
const MAX_OF_ACCOUNT = 200;
const taken = new Map<string, Map<object, number>>();

/**
 * Counts a subscription of an account's connection. Returns a function that ends the count.
 *
 * @throws rate_limited when the connection or the account has too many subscriptions, or the account too many connections
 */
export function takePlace(userId: string, connection: object): () => void {
  const connections = taken.get(userId) ?? new Map<object, number>();
  const count = connections.get(connection) ?? 0;
  const tooMany = (what: string) =>
    new AppError('rate_limited', { detail: `${what}, the most that one may have.` });
  if (count >= MAX_SUBSCRIPTIONS) throw tooMany(`This connection has ${count} subscriptions`);
  if (count === 0 && connections.size >= MAX_CONNECTIONS) {
    throw tooMany(`This account has ${connections.size} connections with subscriptions`);
  }
  const ofAccount = [...connections.values()].reduce((sum, ofOne) => sum + ofOne, 0);
  if (ofAccount >= MAX_OF_ACCOUNT) throw tooMany(`This account has ${ofAccount} subscriptions`);
  taken.set(userId, connections.set(connection, count + 1));
  return () => {
    const left = (connections.get(connection) ?? 1) - 1;
    if (left > 0) connections.set(connection, left);
    else connections.delete(connection);
    if (connections.size === 0 && taken.get(userId) === connections) taken.delete(userId);
  };
}

/** One item of a subscription: an event with the id that a client resumes by, or a notice, which is not stored. */
export type Item<Event, Notice> = { id: string; event: Event } | { notice: Notice };
