import type { EventHub } from '../hub/hub.ts';
import { idOf, type StreamEvent } from '../streams.ts';
import type { Followed } from './followed.ts';
import type { Outlet } from './outlet.ts';

/** Pages of the log grow while the client reads: an event may have half a megabyte, and events that are not sent were read in vain. */
const FIRST_PAGE = 2;
const LARGEST_PAGE = 32;

/** The subscriber whose streams are caught up. */
export interface Laggard {
  followed(stream: string): Followed | undefined;
  send(followed: Followed, event: StreamEvent): void;
  goLive(stream: string, followed: Followed): void;
  close(failure: unknown): void;
}

/** Sends missed events from the log, one stream after the other, so that a client with many streams costs no more than others. */
export class CatchUp {
  readonly #laggard: Laggard;
  readonly #hub: EventHub;
  readonly #outlet: Outlet;
  readonly #behind = new Set<string>();
  #isRunning = false;

  constructor(laggard: Laggard, { hub, outlet }: { hub: EventHub; outlet: Outlet }) {
    this.#laggard = laggard;
    this.#hub = hub;
    this.#outlet = outlet;
  }

  /** Catches up a stream whose state is `behind`. */
  begin(stream: string): void {
    this.#behind.add(stream);
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#catchUpAll().catch((error: unknown) => this.#laggard.close(error));
  }

  async #catchUpAll(): Promise<void> {
    try {
      for (const stream of this.#behind) {
        this.#behind.delete(stream);
        const followed = this.#laggard.followed(stream);
        if (followed?.state === 'behind') await this.#catchUp(stream, followed);
      }
    } finally {
      this.#isRunning = false;
    }
  }

  async #catchUp(stream: string, followed: Followed): Promise<void> {
    const laggard = this.#laggard;
    const isBehind = () => laggard.followed(stream) === followed && followed.state === 'behind';
    let limit = FIRST_PAGE;
    while (isBehind()) {
      if (this.#outlet.full) {
        await this.#outlet.drained();
        limit = FIRST_PAGE;
      } else if (followed.isRewound) {
        followed.isRewound = false;
        laggard.send(followed, this.#hub.kind(stream).reload(idOf(stream), followed.position));
      } else if (followed.position >= (this.#hub.head(stream) ?? 0)) {
        laggard.goLive(stream, followed);
      } else {
        const events = await this.#hub.after(stream, followed.position, limit);
        if (events.length === 0 && isBehind()) return laggard.goLive(stream, followed);
        for (const event of events) {
          if (!isBehind() || this.#outlet.full) break;
          laggard.send(followed, event);
        }
        limit = Math.min(2 * limit, LARGEST_PAGE);
      }
    }
  }
}
