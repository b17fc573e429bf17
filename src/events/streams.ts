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
  readonly stream: string;
  /** The payload as clients see it. */
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
  /** Approximate memory, in characters. */
  readonly size: number;
  /** Whether it changes earlier events in the log, so that copies of them in memory are outdated. */
  readonly rewrites: boolean;
  /** Whether the readers of the stream may have changed with it. */
  readonly changesReaders: boolean;

  constructor(event: {
    stream: string;
    body: Shared['body'];
    number: number;
    atNs: number | null;
    size?: number;
    rewrites?: boolean;
    changesReaders?: boolean;
  }) {
    super(event.stream, event.body);
    this.number = event.number;
    this.atNs = event.atNs;
    this.size = event.size ?? 0;
    this.rewrites = event.rewrites ?? false;
    this.changesReaders = event.changesReaders ?? false;
  }

  /** A reload replaces events that the log does not hold (any more). */
  get isReload(): boolean {
    return this.atNs === null;
  }
}

/** A notice has no number, is not stored and may be lost. */
export class StreamNotice extends Shared {
  /** Whether it announces the end of the stream: then it is sent without a check of access. */
  readonly isFarewell: boolean;
  /** Whether nothing makes up for its loss: then it waits for a client that does not read, instead of being dropped. */
  readonly mustArrive: boolean;

  constructor(
    stream: string,
    body: Shared['body'],
    { isFarewell = false, mustArrive = isFarewell }: { isFarewell?: boolean; mustArrive?: boolean } = {},
  ) {
    super(stream, body);
    this.isFarewell = isFarewell;
    this.mustArrive = mustArrive;
  }
}

/** A notice with its addressees: people on all their connections, or, with null, the subscribers of its stream. */
export interface AddressedNotice {
  userIds: readonly string[] | null;
  notice: StreamNotice;
}

/** The readers of a stream have changed. New readers get the events after `since`. */
export interface AccessChange {
  stream: string;
  since: number;
}

/** The positions of a stream now and at an earlier moment. */
export interface Standing {
  id: string;
  /** The number of its newest event. */
  head: number;
  /** The number of its newest event at a moment. */
  position: number;
}

/** The calls of a kind of stream to the hub. */
export interface KindListener {
  event(event: StreamEvent): void;
  notice(notice: AddressedNotice): void;
  access(change: AccessChange): void;
}

/** The declaration of a noun for its streams. An id is the part of a stream's name after the colon. */
export interface StreamKind {
  readonly name: string;
  /** The name under which Socket.IO clients get all events and notices of the kind. */
  readonly envelope: string;
  /** Passes on notices of this and other processes. Returns a function that ends it. */
  listen(bus: Bus, to: KindListener): () => void;
  /** The clock that stamps its events, the database's, in microseconds. */
  now(): Promise<number>;
  /** The number of the newest event of each stream that exists. */
  heads(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** The events after a number, oldest first. */
  after(id: string, number: number, limit: number): Promise<StreamEvent[]>;
  /** The reload that replaces the events up to a number. */
  reload(id: string, number: number): StreamEvent;
  /** The positions of streams now and at a moment (nanoseconds, as text). */
  standings(ids: readonly string[], moment: string): Promise<Standing[]>;
  /** The heads of streams that the caller may read and that have an event later than a moment. */
  recentHeads(caller: Actor, moment: string): Promise<ReadonlyMap<string, number>>;
  /** The streams that the caller may read now, among the given ones or of all. @throws AppError when the caller may not use the kind */
  readable(scope: Scope, among: readonly string[] | null): Promise<string[]>;
  /** The users, among the given ones, that may read a stream now. */
  readers(id: string, userIds: readonly string[]): Promise<string[]>;
}
