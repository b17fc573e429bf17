import type { Turn } from '../core/work.ts';

/** The call that a connection is for; undefined for the server's own work. */
export type Holder = Turn | undefined;

export interface Waiting {
  readonly holder: Holder;
  /** The queue that it is in. */
  readonly queue: string;
  readonly since: number;
  timer: NodeJS.Timeout | undefined;
  /** Takes a connection. */
  begin(): void;
}

/** The queue of calls that hold a connection already. */
const HOLDS_ONE = 'holds one';

/** The queue of a request: the queue of its caller, or of all calls that hold a connection. */
export const queueOf = (holder: Holder): string => (holder?.connections ? HOLDS_ONE : (holder?.caller ?? ''));

/** The requests that wait for a connection, in a queue for each caller. */
export class WaitingRequests {
  /** In the order in which they are served. */
  readonly #queues = new Map<string, Set<Waiting>>();
  #count = 0;
  #waits = 0;
  #waitedMs = 0;

  /** How many wait now. */
  get count(): number {
    return this.#count;
  }

  /** How many requests had to wait, or were refused at once because too many waited. */
  get waits(): number {
    return this.#waits;
  }

  /** The sum of all waits that have ended. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  add(waiting: Waiting): void {
    const queue = this.#queues.get(waiting.queue) ?? new Set();
    this.#queues.set(waiting.queue, queue.add(waiting));
    this.#count += 1;
    if (waiting.holder) waiting.holder.awaited += 1;
  }

  remove(waiting: Waiting): void {
    const queue = this.#queues.get(waiting.queue);
    if (!queue?.delete(waiting)) return;
    this.#count -= 1;
    if (waiting.holder) waiting.holder.awaited -= 1;
    clearTimeout(waiting.timer);
    this.#waits += 1;
    this.#waitedMs += performance.now() - waiting.since;
    this.#queues.delete(waiting.queue);
    // The others are served before this caller's next.
    if (queue.size > 0) this.#queues.set(waiting.queue, queue);
  }

  noteRefused(): void {
    this.#waits += 1;
  }

  /** The request that is served next. @param isOverShare whether a request must wait for connections of its own caller */
  next(isOverShare: (holder: Holder) => boolean): Waiting | undefined {
    const [before] = this.#queues.get(HOLDS_ONE) ?? [];
    if (before) return before;
    for (const queue of this.#queues.values()) {
      const [first] = queue;
      if (first && !isOverShare(first.holder)) return first;
    }
    return undefined;
  }
}
