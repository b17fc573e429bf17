import type { Logger } from 'pino';
import type { Bus } from './bus.ts';
import { type AskReaders, createReaders } from './readers.ts';
import { type Follower, Sequence } from './sequence.ts';
import {
  type AccessChange,
  type AddressedNotice,
  idOf,
  kindOf,
  type StreamEvent,
  type StreamKind,
  type StreamNotice,
  streamOf,
} from './streams.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly hub: EventHub;
  }
}

/** How long an event may be overtaken by its successors before it is looked up. */
const OVERTAKEN_MS = 50;
/** How often the log is asked whether a notice was missed, or never sent because its writer was cut off. */
const SWEEP_MS = 5_000;
const LOG_PAGE = 100;

/** A subscriber of this process, whichever streams it follows. */
export interface Attendant extends Follower {
  readonly userId: string;
  /** A notice to this person. */
  noticeToPerson(notice: StreamNotice): void;
  /** Who may read a stream has changed. */
  access(change: AccessChange): void;
  /** Called for each event at debug level: tells the log where the subscriber is not even offered it. */
  explain(event: StreamEvent): void;
}

/**
 * Hands the events of streams to this process's subscribers in the order of their numbers, without gaps. Notices between processes
 * may be late, overtaken or lost: what is missing is read from the log.
 */
export interface EventHub {
  readonly kinds: readonly StreamKind[];
  /** The kind of a stream. */
  kind(stream: string): StreamKind;
  /** Counts a subscriber in, for notices to its person and changes of access. Returns how to take it out. */
  attend(attendant: Attendant): () => void;
  /** Begins to follow streams. Every event after the return is handed out to the follower, until `unfollow`. */
  follow(streams: readonly string[], follower: Follower): Promise<void>;
  unfollow(streams: Iterable<string>, follower: Follower): void;
  /** The time by which events are stamped, microseconds: the database's. */
  now(): Promise<number>;
  /** The numbers of the newest events in the log, in one statement for each kind. */
  heads(streams: readonly string[]): Promise<Map<string, number>>;
  /** The number of the newest event that was handed out; undefined for a stream that is not followed. */
  head(stream: string): number | undefined;
  /**
   * At most so many of the events after a number, oldest first; none means that there is nothing newer. A reload stands for events
   * that the log has forgotten.
   */
  after(stream: string, position: number, limit?: number): Promise<StreamEvent[]>;
  /** Who of some users may read a stream, by one statement for all subscribers that ask at once. */
  readonly readers: AskReaders;
  /** The ids of the streams of a kind that are followed, by no more than so many. */
  followed(kind: string, mostFollowers: number): string[];
  /** Whether nothing older than some seconds can still be missing here. */
  readonly settled: boolean;
  /** How many streams are followed. */
  readonly size: number;
  close(): void;
}

export function createHub(options: { kinds: readonly StreamKind[]; bus: Bus; log: Logger }): EventHub {
  const { kinds, bus, log } = options;
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const sequences = new Map<string, Sequence>();
  const attendants = new Set<Attendant>();
  const byUser = new Map<string, Set<Attendant>>();
  const repairs = new Map<Sequence, NodeJS.Timeout>();
  let sweptAt = Date.now();

  function kind(stream: string): StreamKind {
    const found = byName.get(kindOf(stream));
    if (!found) throw new Error(`No kind of stream is declared for ${stream}.`);
    return found;
  }

  const failed = (error: unknown) =>
    log.warn({ err: error }, 'Reading the event log failed; it is tried again.');

  function accept(event: StreamEvent): void {
    const sequence = sequences.get(event.stream);
    if (log.isLevelEnabled('debug')) for (const attendant of attendants) attendant.explain(event);
    if (!sequence) return;
    sequence.accept(event);
    if (sequence.hasGap) repairSoon(event.stream, sequence);
  }

  function tell({ userIds, notice }: AddressedNotice): void {
    if (userIds === null) {
      for (const follower of sequences.get(notice.stream)?.followers ?? []) follower.notice(notice);
      return;
    }
    for (const userId of userIds)
      for (const person of byUser.get(userId) ?? []) person.noticeToPerson(notice);
  }

  /** Whether the sequence is still the one of its stream: a stream that lost all followers begins anew. */
  const isFollowed = (stream: string, sequence: Sequence) => sequences.get(stream) === sequence;

  function repairSoon(stream: string, sequence: Sequence): void {
    if (repairs.has(sequence)) return;
    const timer = setTimeout(() => {
      repairs.delete(sequence);
      if (sequence.hasGap) void repair(stream, sequence).catch(failed);
    }, OVERTAKEN_MS);
    repairs.set(sequence, timer);
  }

  /** Reads what is missing behind the head from the log and hands it out. */
  async function repair(stream: string, sequence: Sequence): Promise<void> {
    for (;;) {
      const { head } = sequence;
      if (head === undefined) return;
      const missing = await kind(stream).after(idOf(stream), head, LOG_PAGE);
      // Without followers this head never moves, and the log would be asked for ever.
      if (!isFollowed(stream, sequence)) return;
      // Only a process that heard nothing for as long as events are kept can have missed what is pruned.
      const [oldest] = missing;
      if (oldest && oldest.number > head + 1) skipTo(stream, sequence, oldest.number - 1);
      for (const event of missing) sequence.accept(event);
      sequence.forgetPassed();
      if (missing.length < LOG_PAGE || !isFollowed(stream, sequence)) return;
    }
  }

  function skipTo(stream: string, sequence: Sequence, head: number): void {
    if (isFollowed(stream, sequence)) sequence.skip(kind(stream).reload(idOf(stream), head));
  }

  async function readHeads(streams: readonly string[]): Promise<Map<string, number>> {
    const heads = new Map<string, number>();
    for (const one of kinds) {
      const ids = streams.filter((stream) => kindOf(stream) === one.name).map(idOf);
      if (ids.length === 0) continue;
      for (const [id, head] of await one.heads(ids)) heads.set(streamOf(one.name, id), head);
    }
    return heads;
  }

  /** Compares all followed streams with the log. */
  async function sweep(): Promise<void> {
    const began = Date.now();
    for (const [stream, head] of await readHeads([...sequences.keys()])) {
      const sequence = sequences.get(stream);
      if (sequence?.head === undefined || sequence.head >= head) continue;
      await repair(stream, sequence);
      skipTo(stream, sequence, head);
    }
    sweptAt = began;
  }

  function unfollow(streams: Iterable<string>, follower: Follower): void {
    for (const stream of streams) {
      const sequence = sequences.get(stream);
      if (!sequence?.followers.delete(follower) || sequence.followers.size > 0) continue;
      clearTimeout(repairs.get(sequence));
      repairs.delete(sequence);
      sequences.delete(stream);
    }
  }

  async function follow(streams: readonly string[], follower: Follower): Promise<void> {
    for (const stream of streams) {
      const sequence = sequences.get(stream) ?? new Sequence();
      sequences.set(stream, sequence);
      sequence.followers.add(follower);
    }
    const fresh = streams.filter((stream) => sequences.get(stream)?.head === undefined);
    if (fresh.length === 0) return;
    // First follow, then ask where the stream is: what happens in between waits among the early ones.
    try {
      const heads = await readHeads(fresh);
      for (const stream of fresh) {
        const sequence = sequences.get(stream);
        if (!sequence || sequence.head !== undefined) continue;
        sequence.begin(heads.get(stream) ?? 0);
        if (sequence.hasGap) repairSoon(stream, sequence);
      }
    } catch (error) {
      unfollow(streams, follower);
      throw error;
    }
  }

  function attend(attendant: Attendant): () => void {
    const { userId } = attendant;
    const people = byUser.get(userId) ?? new Set();
    byUser.set(userId, people.add(attendant));
    attendants.add(attendant);
    return () => {
      attendants.delete(attendant);
      people.delete(attendant);
      if (people.size === 0 && byUser.get(userId) === people) byUser.delete(userId);
    };
  }

  const unsubscribe = [
    ...kinds.map((one) =>
      one.listen(bus, {
        event: accept,
        notice: tell,
        access(change) {
          for (const attendant of attendants) attendant.access(change);
        },
      }),
    ),
    bus.onGap(() => void sweep().catch(failed)),
  ];
  const timer = setInterval(() => void sweep().catch(failed), SWEEP_MS).unref();

  return {
    kinds,
    kind,
    attend,
    follow,
    unfollow,
    now: async () => (await kinds[0]?.now()) ?? Date.now() * 1000,
    heads: readHeads,
    head: (stream) => sequences.get(stream)?.head,
    async after(stream, position, limit = LOG_PAGE) {
      const sequence = sequences.get(stream);
      const recent = sequence?.recentAfter(position, limit);
      if (recent) return recent;
      const events = await kind(stream).after(idOf(stream), position, limit);
      const next = events[0]?.number ?? (sequence?.head ?? 0) + 1;
      return next > position + 1 ? [kind(stream).reload(idOf(stream), next - 1), ...events] : events;
    },
    readers: createReaders((stream, userIds) => kind(stream).readers(idOf(stream), userIds)),
    followed: (name, mostFollowers) =>
      [...sequences].flatMap(([stream, { followers }]) =>
        kindOf(stream) === name && followers.size <= mostFollowers ? [idOf(stream)] : [],
      ),
    get settled() {
      return Date.now() - sweptAt < 3 * SWEEP_MS;
    },
    get size() {
      return sequences.size;
    },
    close() {
      for (const end of unsubscribe) end();
      clearInterval(timer);
      for (const pending of repairs.values()) clearTimeout(pending);
      sequences.clear();
    },
  };
}
