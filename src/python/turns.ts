import { AppError } from '../core/errors.ts';
import { type Limits, MAX_ARGUMENT_BYTES, MAX_ARGUMENT_BYTES_OF_ALL } from './limits.ts';

interface Share {
  running: number;
  /** The size of the arguments of all calls, waiting ones included. */
  bytes: number;
  /** In the order in which they came. */
  waiting: Set<() => void>;
}

/** Shares the tools between people: each person may have a bounded number of calls under way. */
export class Turns {
  readonly #limits: Limits;
  readonly #shares = new Map<string, Share>();
  #bytesOfAll = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** How many turns a person holds. */
  heldBy(person: string | undefined): number {
    return person === undefined ? 0 : (this.#shares.get(person)?.running ?? 0);
  }

  /** How many turns are held, and how many calls wait for one. */
  load(): { running: number; waiting: number } {
    const sum = { running: 0, waiting: 0 };
    for (const share of this.#shares.values()) {
      sum.running += share.running;
      sum.waiting += share.waiting.size;
    }
    return sum;
  }

  /**
   * Waits until the person has fewer calls under way than the bound; without a person it does not wait. The
   * returned function gives the turn back.
   *
   * @throws rate_limited when too many calls of the person wait, wait too long or hold too many bytes;
   * python_unavailable when too many bytes wait in all
   */
  async take(person: string | undefined, bytes: number, signal?: AbortSignal): Promise<() => void> {
    if (this.#bytesOfAll + bytes > MAX_ARGUMENT_BYTES_OF_ALL) {
      const detail = 'Too much waits for tools already. Try again in a moment.';
      throw new AppError('python_unavailable', { detail, retryAfterSeconds: 5 });
    }
    if (person === undefined) return () => {};
    const share = this.#shares.get(person) ?? { running: 0, bytes: 0, waiting: new Set() };
    const isFree = share.running < this.#limits.callsPerPerson;
    this.#requireRoom(share, bytes, isFree);
    this.#shares.set(person, share);
    this.#count(share, bytes);
    if (isFree) {
      share.running += 1;
    } else {
      try {
        // The caller that gives a turn back passes it on, so the count stays.
        await this.#wait(share, signal);
      } catch (error) {
        this.#count(share, -bytes);
        throw error;
      }
    }
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count(share, -bytes);
      this.#passOn(person, share);
    };
  }

  #requireRoom(share: Share, bytes: number, isFree: boolean): void {
    if (share.bytes + bytes > MAX_ARGUMENT_BYTES)
      throw refusal(
        'Your calls of tools hold too many arguments already. Try again when one of them is done.',
      );
    const { waitingPerPerson } = this.#limits;
    if (!isFree && share.waiting.size >= waitingPerPerson)
      throw refusal(`${waitingPerPerson} of your calls of tools wait already. Try again later.`);
  }

  #count(share: Share, bytes: number): void {
    share.bytes += bytes;
    this.#bytesOfAll += bytes;
  }

  /** Waits for one of the person's own calls to end. */
  async #wait(share: Share, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const give = () => resolve();
    const leave = () => reject(signal?.reason);
    const detail = `${this.#limits.callsPerPerson} of your calls of tools are under way. Try again when one of them is done.`;
    const timer = setTimeout(() => reject(refusal(detail)), this.#limits.loadTimeoutMs);
    signal?.addEventListener('abort', leave, { once: true });
    if (signal?.aborted) leave();
    share.waiting.add(give);
    try {
      await promise;
    } finally {
      share.waiting.delete(give);
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }

  /** Passes a turn to the person's next waiting call, or ends it. */
  #passOn(person: string, share: Share): void {
    const [next] = share.waiting;
    if (next) {
      share.waiting.delete(next);
      next();
    } else {
      share.running -= 1;
      if (share.running === 0) this.#shares.delete(person);
    }
  }
}

function refusal(detail: string): AppError {
  return new AppError('rate_limited', { detail, retryAfterSeconds: 5 });
}
