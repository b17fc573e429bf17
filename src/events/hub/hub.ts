import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { Bus } from '../bus.ts';
import {
  type AccessChange,
  type AddressedNotice,
  idOf,
  kindOf,
  type StreamEvent,
  type StreamKind,
  type StreamNotice,
} from '../streams.ts';
import { type Attendant, Attendants } from './attendants.ts';
import { LOG_PAGE, Logs } from './logs.ts';
import { type AskReaders, createReaders } from './readers.ts';
import { type Follower, Sequence } from './sequence.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly hub: EventHub;
  }
}

/** How long an event may be missing, after a later one came, before it is read from the log. */
const OVERTAKEN_MS = 50;
/** Interval of the comparison with the log: a notice may be missed, or never sent because its process lost its connection or was killed. */
const SWEEP_MS = 5_000;
/** How many ends of streams are remembered, for clients that were let in and do not follow the streams yet. */
const MAX_FAREWELLS = 500;

/**
 * Hands the events of streams to this process's subscribers in the order of their numbers, without gaps. Notices between processes
 * may be late, overtaken or lost: missing events are read from the log.
 */
export interface EventHub {
  readonly kinds: readonly StreamKind[];
  /** The kind of a stream. */
  kind(stream: string): StreamKind;
  /** Adds a subscriber, for notices to its person and changes of access. Returns a function that removes it. */
  attend(attendant: Attendant): () => void;
  /** Begins to follow streams. Every event after the return is handed out to the follower, until `unfollow`. */
  follow(streams: readonly string[], follower: Follower): Promise<void>;
  unfollow(streams: Iterable<string>, follower: Follower): void;
  /** The clock that stamps events, the database's, in microseconds. */
  now(): Promise<number>;
  /** The numbers of the newest events in the log, in one statement for each kind. */
  heads(streams: readonly string[]): Promise<Map<string, number>>;
  /** The number of the newest event that was handed out; undefined for a stream that is not followed. */
  head(stream: string): number | undefined;
  /**
   * At most `limit` events after a number, oldest first; none means that there is nothing newer. A reload replaces events that the log
   * has forgotten.
   */
  after(stream: string, position: number, limit?: number): Promise<StreamEvent[]>;
  /** The users, among the given ones, that may read a stream: one statement for all subscribers that ask at once. */
  readonly readers: AskReaders;
  /** The notice of the end of a stream, if it came lately. */
  farewell(stream: string): StreamNotice | undefined;
  /** The ids of the streams of a kind that are followed by at most so many followers. */
  followed(kind: string, mostFollowers: number): string[];
  /** Whether no event older than some seconds can be missing here. */
  readonly settled: boolean;
  /** How many streams are followed. */
  readonly size: number;
  close(): void;
}

export interface HubOptions {
  kinds: readonly StreamKind[];
  bus: Bus;
  log: Logger;
}

export const createHub = (options: HubOptions): EventHub => new Hub(options);

class Hub implements EventHub {
  readonly readers: AskReaders;
  readonly #logs: Logs;
  readonly #log: Logger;
  readonly #attendants = new Attendants();
  readonly #farewells = new LRUCache<string, StreamNotice>({ max: MAX_FAREWELLS });
  /** By stream: only streams with followers have one. */
  readonly #sequences = new Map<string, Sequence>();
  /** Of sequences with a gap: the timers until it is read from the log. */
  readonly #repairs = new Map<Sequence, NodeJS.Timeout>();
  readonly #sweeping: NodeJS.Timeout;
  readonly #unsubscribe: readonly (() => void)[];
  #sweptAt = Date.now();

  constructor({ kinds, bus, log }: HubOptions) {
    const logs = new Logs(kinds);
    this.#logs = logs;
    this.#log = log;
    this.readers = createReaders((stream, userIds) => logs.readers(stream, userIds));
    const listener = {
      event: (event: StreamEvent) => this.#accept(event),
      notice: (notice: AddressedNotice) => this.#tell(notice),
      access: (change: AccessChange) => this.#attendants.access(change),
    };
    this.#unsubscribe = [...kinds.map((one) => one.listen(bus, listener)), bus.onGap(() => this.#sweepNow())];
    this.#sweeping = setInterval(() => this.#sweepNow(), SWEEP_MS).unref();
  }

  get kinds(): readonly StreamKind[] {
    return this.#logs.kinds;
  }

  get settled(): boolean {
    return Date.now() - this.#sweptAt < 3 * SWEEP_MS;
  }

  get size(): number {
    return this.#sequences.size;
  }

  kind(stream: string): StreamKind {
    return this.#logs.kind(stream);
  }

  now(): Promise<number> {
    return this.#logs.now();
  }

  heads(streams: readonly string[]): Promise<Map<string, number>> {
    return this.#logs.heads(streams);
  }

  head(stream: string): number | undefined {
    return this.#sequences.get(stream)?.head;
  }

  async after(stream: string, position: number, limit = LOG_PAGE): Promise<StreamEvent[]> {
    const sequence = this.#sequences.get(stream);
    const recent = sequence?.recentAfter(position, limit);
    if (recent) return recent;
    const events = await this.#logs.after(stream, position, limit);
    const next = events[0]?.number ?? (sequence?.head ?? 0) + 1;
    return next > position + 1 ? [this.#logs.reload(stream, next - 1), ...events] : events;
  }

  followed(kind: string, mostFollowers: number): string[] {
    return [...this.#sequences].flatMap(([stream, { followers }]) =>
      kindOf(stream) === kind && followers.size <= mostFollowers ? [idOf(stream)] : [],
    );
  }

  farewell(stream: string): StreamNotice | undefined {
    return this.#farewells.get(stream);
  }

  attend(attendant: Attendant): () => void {
    return this.#attendants.add(attendant);
  }

  async follow(streams: readonly string[], follower: Follower): Promise<void> {
    for (const stream of streams) {
      const sequence = this.#sequences.get(stream) ?? new Sequence();
      this.#sequences.set(stream, sequence);
      sequence.followers.add(follower);
    }
    const fresh = streams.filter((stream) => this.head(stream) === undefined);
    if (fresh.length === 0) return;
    try {
      await this.#begin(fresh);
    } catch (error) {
      this.unfollow(streams, follower);
      throw error;
    }
  }

  unfollow(streams: Iterable<string>, follower: Follower): void {
    for (const stream of streams) {
      const sequence = this.#sequences.get(stream);
      if (!sequence?.followers.delete(follower) || sequence.followers.size > 0) continue;
      clearTimeout(this.#repairs.get(sequence));
      this.#repairs.delete(sequence);
      this.#sequences.delete(stream);
    }
  }

  close(): void {
    for (const end of this.#unsubscribe) end();
    clearInterval(this.#sweeping);
    for (const pending of this.#repairs.values()) clearTimeout(pending);
    this.#sequences.clear();
  }

  /** Asks where followed streams stand. Events that arrive meanwhile wait in their sequences. */
  async #begin(fresh: readonly string[]): Promise<void> {
    const heads = await this.#logs.heads(fresh);
    for (const stream of fresh) {
      const sequence = this.#sequences.get(stream);
      if (!sequence || sequence.head !== undefined) continue;
      sequence.begin(heads.get(stream) ?? 0);
      if (sequence.hasGap) this.#repairSoon(stream, sequence);
    }
  }

  #accept(event: StreamEvent): void {
    const sequence = this.#sequences.get(event.stream);
    if (this.#log.isLevelEnabled('debug')) this.#attendants.explain(event);
    if (!sequence) return;
    sequence.accept(event);
    if (sequence.hasGap) this.#repairSoon(event.stream, sequence);
  }

  #tell({ userIds, notice }: AddressedNotice): void {
    if (notice.isFarewell && !userIds) this.#farewells.set(notice.stream, notice);
    if (userIds) this.#attendants.noticeToPeople(userIds, notice);
    else for (const follower of this.#sequences.get(notice.stream)?.followers ?? []) follower.notice(notice);
  }

  // Missing events, from the log.

  #repairSoon(stream: string, sequence: Sequence): void {
    if (this.#repairs.has(sequence)) return;
    const timer = setTimeout(() => {
      this.#repairs.delete(sequence);
      if (sequence.hasGap) this.#repair(stream, sequence).catch(this.#noteFailure);
    }, OVERTAKEN_MS);
    this.#repairs.set(sequence, timer);
  }

  /** Reads the events after the head from the log and hands them out. */
  async #repair(stream: string, sequence: Sequence): Promise<void> {
    for (;;) {
      const { head } = sequence;
      if (head === undefined) return;
      const missing = await this.#logs.after(stream, head);
      // Without followers this head never moves, and the log would be asked for ever.
      if (!this.#isFollowed(stream, sequence)) return;
      // Pruned events were missed only if this process heard nothing for as long as events are kept.
      const [oldest] = missing;
      if (oldest && oldest.number > head + 1) this.#skipTo(stream, sequence, oldest.number - 1);
      for (const event of missing) {
        // The notice of the change of access was probably lost with that of the event: its process was killed.
        if (event.changesReaders && event.number > (sequence.head ?? 0))
          this.#attendants.access({ stream, since: event.number - 1 });
        sequence.accept(event);
      }
      sequence.forgetPassed();
      if (missing.length < LOG_PAGE || !this.#isFollowed(stream, sequence)) return;
    }
  }

  /** Whether the sequence is still the one of its stream: a stream that lost all followers begins anew. */
  #isFollowed(stream: string, sequence: Sequence): boolean {
    return this.#sequences.get(stream) === sequence;
  }

  #skipTo(stream: string, sequence: Sequence, head: number): void {
    if (this.#isFollowed(stream, sequence)) sequence.skip(this.#logs.reload(stream, head));
  }

  #sweepNow(): void {
    this.#sweep().catch(this.#noteFailure);
  }

  /** Compares all followed streams with the log. */
  async #sweep(): Promise<void> {
    const began = Date.now();
    const streams = [...this.#sequences.keys()];
    const heads = await this.#logs.heads(streams);
    for (const stream of streams) {
      const sequence = this.#sequences.get(stream);
      if (sequence?.head === undefined) continue;
      const head = heads.get(stream);
      if (head === undefined) {
        // The stream was deleted, and the notice of it was lost.
        this.#attendants.access({ stream, since: 0 });
      } else if (sequence.head < head) {
        await this.#repair(stream, sequence);
        this.#skipTo(stream, sequence, head);
      }
    }
    this.#sweptAt = began;
  }

  readonly #noteFailure = (error: unknown): void =>
    this.#log.warn({ err: error }, 'Reading the event log failed; it is tried again.');
}
