import type { StreamNotice } from '../streams.ts';

/** How many notices wait for one subscriber; more are dropped. */
const MAX_NOTICES = 100;

interface Waiting {
  notice: StreamNotice;
  /** Whether it is addressed to this person, who gets it without a right to read the stream. */
  isForPerson: boolean;
}

/** Notices that wait until their stream is live. */
export class WaitingNotices {
  #waiting: Waiting[] = [];

  /** @returns whether there was room */
  add(waiting: Waiting): boolean {
    if (this.#waiting.length >= MAX_NOTICES) return false;
    this.#waiting.push(waiting);
    return true;
  }

  /** Removes and returns the notices of a stream. */
  take(stream: string): Waiting[] {
    if (this.#waiting.length === 0) return [];
    const taken = this.#waiting.filter(({ notice }) => notice.stream === stream);
    this.#waiting = this.#waiting.filter(({ notice }) => notice.stream !== stream);
    return taken;
  }

  clear(): void {
    this.#waiting = [];
  }
}
