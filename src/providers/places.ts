import { AppError } from '../core/errors.ts';

const MOST_WAITING_PER_PERSON = 100;

/** The places of one connection: so many calls are under way, and the people whose calls wait get places in turn. */
export class Places {
  readonly #most: number;
  /** In the order of their turns. */
  readonly #waiting = new Map<string, Set<() => void>>();
  #taken = 0;
  #waitingCount = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get taken(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waitingCount;
  }

  /** Waits for a place; the returned function gives it back. @throws rate_limited; the reason of the signal */
  async take(person: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) this.#taken += 1;
    else await this.#wait(person, signal);
    if (signal.aborted) {
      this.#passOn();
      throw signal.reason;
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#passOn();
    };
  }

  async #wait(person: string, signal: AbortSignal): Promise<void> {
    const queue = this.#waiting.get(person) ?? new Set();
    if (queue.size >= MOST_WAITING_PER_PERSON) {
      const detail = `${MOST_WAITING_PER_PERSON} of your calls wait for this model already. Try again later.`;
      throw new AppError('rate_limited', { detail, retryAfterSeconds: 5 });
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // At once, so that no place is passed to a call that has gone.
    const leave = () => {
      queue.delete(resolve);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    this.#waiting.set(person, queue.add(resolve));
    this.#waitingCount += 1;
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', leave);
      this.#waitingCount -= 1;
      queue.delete(resolve);
      if (queue.size === 0 && this.#waiting.get(person) === queue) this.#waiting.delete(person);
    }
  }

  /** Passes a place to the first call of the person whose turn it is; that person's turn comes again after all others. */
  #passOn(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#taken -= 1;
      return;
    }
    const [person, queue] = next;
    const [give] = queue;
    this.#waiting.delete(person);
    if (give) queue.delete(give);
    if (queue.size > 0) this.#waiting.set(person, queue);
    if (give) give();
    else this.#passOn();
  }
}
