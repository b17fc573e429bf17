import type { Actor, Scope } from '../core/scope.ts';
import type { Bus } from './bus.ts';

/**
 * A stream is a sequence of events that are numbered 1, 2, 3, … without gaps, and has a name: `channel:<id>`. A noun that has events
 * declares a kind of stream; the engine (hub, subscriber, doors) knows no noun.
 */
export const streamOf = (kind: string, id: string): string => `${kind}:${id}`;
export const kindOf = (stream: string): string => stream.slice(0, stream.indexOf(':'));
export const idOf = (stream: string): string => stream.slice(stream.indexOf(':') + 1);

/** A payload that many clients get. It is serialised once, at its first use, and never changed. */
class Shared {
  /** The stream that it concerns. */
  readonly stream: string;
  /** What clients see. */
  readonly body: { readonly data: { readonly type: string } };
  #text: string | undefined;

  constructor(stream: string, body: Shared['body']) {
    this.stream = stream;
    this.body = body;
  }

  get text(): string {
    this.#text ??= JSON.stringify(this.body);
    return this.#text;
  }

  toJSON(): unknown {
    return this.body;
  }
}

export type Told = StreamEvent | StreamNotice;
export const isTold = (value: unknown): value is Told => value instanceof Shared;

/** One event of a stream. */
export class StreamEvent extends Shared {
  readonly number: number;
  /** Nanoseconds; null for a reload. */
  readonly atNs: number | null;
  /** About how much memory it takes, in characters. */
  readonly size: number;
  /** Whether it changes what the log says of earlier events, so that none of them may be served from memory. */
  readonly rewrites: boolean;

  constructor(event: {
    stream: string;
    body: Shared['body'];
    number: number;
    atNs: number | null;
    size?: number;
    rewrites?: boolean;
  }) {
    super(event.stream, event.body);
    this.number = event.number;
    this.atNs = event.atNs;
    this.size = event.size ?? 0;
    this.rewrites = event.rewrites ?? false;
  }

  /** A reload stands in the place of events that the log does not hold (any more). */
  get isReload(): boolean {
    return this.atNs === null;
  }
}

/** What passes, has no number, is not stored and may be lost. */
export class StreamNotice extends Shared {
  /** Whether it tells the end of the stream: then it does not wait for an answer about access. */
  readonly isFarewell: boolean;

  constructor(stream: string, body: Shared['body'], isFarewell = false) {
    super(stream, body);
    this.isFarewell = isFarewell;
  }
}

/** A notice with its addressees: people wherever they are connected, or the subscribers of its stream. */
export interface AddressedNotice {
  userIds: readonly string[] | null;
  notice: StreamNotice;
}

/** Who may read a stream has changed. New readers are due the events after `since`. */
export interface AccessChange {
  stream: string;
  since: number;
}

/** Where a stream stands. */
export interface Standing {
  id: string;
  /** The number of its newest event. */
  head: number;
  /** The number of its newest event at a moment. */
  position: number;
}

/** What a kind of stream tells the hub. */
export interface KindListener {
  event(event: StreamEvent): void;
  notice(notice: AddressedNotice): void;
  access(change: AccessChange): void;
}

/** What a noun declares for its streams. Ids are those behind the colon of a stream's name. */
export interface StreamKind {
  readonly name: string;
  /** The name under which Socket.IO clients get all events and notices of the kind. */
  readonly envelope: string;
  /** Tells what this and other processes publish. Returns what ends it. */
  listen(bus: Bus, to: KindListener): () => void;
  /** The time by which its events are stamped, microseconds: the database's. */
  now(): Promise<number>;
  /** The number of the newest event of each stream that exists. */
  heads(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The events after a number, oldest first. */
  after(id: string, number: number, limit: number): Promise<StreamEvent[]>;
  /** The event that stands for those up to a number which the log does not hold. */
  reload(id: string, number: number): StreamEvent;
  /** Where streams stand now, and stood at a moment (nanoseconds, as text). */
  standings(ids: readonly string[], moment: string): Promise<Standing[]>;
  /** The heads of those streams that the caller may read and that have an event later than a moment. */
  recentHeads(caller: Actor, moment: string): Promise<ReadonlyMap<string, number>>;
  /** Those streams that the caller may read now: among the given ones, or of all. @throws AppError when none of the kind at all */
  readable(scope: Scope, among: readonly string[] | null): Promise<string[]>;
  /** Those of some users who may read a stream now. */
  readers(id: string, userIds: readonly string[]): Promise<string[]>;
}
