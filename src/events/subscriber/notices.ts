import type { StreamNotice } from '../streams.ts';
import type { Outlet } from './outlet.ts';

/** How many notices wait for one subscriber; more are dropped. */
const MAX_NOTICES = 100;

interface Waiting {
  notice: StreamNotice;
  /** Whether it is addressed to this person, who gets it without a right to read the stream. */
  isForPerson: boolean;
}

/** Notices that must arrive, and wait for a client that does not read. */
export class OwedNotices {
  readonly #outlet: Outlet;
  readonly #passOn: (notice: StreamNotice) => void;
  #owed: StreamNotice[] = [];

  constructor(outlet: Outlet, passOn: (notice: StreamNotice) => void) {
    this.#outlet = outlet;
    this.#passOn = passOn;
  }

  /** Passes a notice on when the client reads again. Equal ones are passed on once. @returns whether there was room */
  add(notice: StreamNotice): boolean {
    if (this.#owed.some(({ text }) => text === notice.text)) return true;
    if (this.#owed.length >= MAX_NOTICES) return false;
    this.#owed.push(notice);
    if (this.#owed.length === 1) void this.#outlet.drained().then(() => this.#passOnAll());
    return true;
  }

  clear(): void {
    this.#owed = [];
  }

  #passOnAll(): void {
    const owed = this.#owed;
    this.#owed = [];
    for (const notice of owed) this.#passOn(notice);
  }
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
