import type { StreamEvent, StreamNotice } from '../streams.ts';

/** How many events of a stream are kept in memory, and their size together; older ones are read from the log. */
const RECENT = 256;
const RECENT_CHARACTERS = 2 ** 20;

/** A subscriber of streams, as the hub sees it. */
export interface Follower {
  event(event: StreamEvent): void;
  notice(notice: StreamNotice): void;
}

/** The events of one followed stream, in the order of their numbers. Notices of them may be late, doubled or lost. */
export class Sequence {
  readonly followers = new Set<Follower>();
  /** The number of the newest event that was handed out; undefined until it was read from the log. */
  #head: number | undefined;
  /** The newest events, ending at the head, without gaps. */
  #recent: StreamEvent[] = [];
  #recentCharacters = 0;
  /** Events that arrived before their predecessors. */
  readonly #early = new Map<number, StreamEvent>();

  get head(): number | undefined {
    return this.#head;
  }

  /** Whether events wait for one that has not arrived. */
  get hasGap(): boolean {
    return this.#head !== undefined && this.#early.size > 0;
  }

  /** Sets the head of the stream, and hands out the events that arrived meanwhile. */
  begin(head: number): void {
    this.#head = head;
    const early = [...this.#early.values()].sort((a, b) => a.number - b.number);
    this.#early.clear();
    for (const event of early) this.accept(event);
  }

  /** Hands an event out if it is the next one, keeps it if it is early, and drops it if it was handed out before. */
  accept(event: StreamEvent): void {
    if (this.#head === undefined || event.number > this.#head + 1) this.#early.set(event.number, event);
    else if (event.number === this.#head + 1) this.#handOut(event);
  }

  /** Skips events that the log does not hold any more. @param reload replaces them */
  skip(reload: StreamEvent): void {
    if (this.#head === undefined || this.#head >= reload.number) return;
    this.#head = reload.number;
    this.#forgetRecent();
    for (const follower of this.followers) follower.event(reload);
  }

  /** Drops early events that are not awaited any more. */
  forgetPassed(): void {
    for (const number of this.#early.keys()) if (number <= (this.#head ?? 0)) this.#early.delete(number);
  }

  /** At most `limit` events after a number, from memory; undefined where the log must be read. */
  recentAfter(position: number, limit: number): StreamEvent[] | undefined {
    if (this.#head !== undefined && position >= this.#head) return [];
    const oldest = this.#recent[0]?.number;
    if (oldest === undefined || oldest > position + 1) return undefined;
    const first = position + 1 - oldest;
    return this.#recent.slice(first, first + limit);
  }

  #handOut(first: StreamEvent): void {
    for (let event: StreamEvent | undefined = first; event; ) {
      this.#head = event.number;
      this.#keep(event);
      for (const follower of this.followers) follower.event(event);
      const next: number = event.number + 1;
      event = this.#early.get(next);
      this.#early.delete(next);
    }
  }

  #keep(event: StreamEvent): void {
    if (event.rewrites) this.#forgetRecent();
    this.#recent.push(event);
    this.#recentCharacters += event.size;
    while (this.#recent.length > RECENT || this.#recentCharacters > RECENT_CHARACTERS) {
      this.#recentCharacters -= this.#recent.shift()?.size ?? 0;
    }
  }

  #forgetRecent(): void {
    this.#recent = [];
    this.#recentCharacters = 0;
  }
}
