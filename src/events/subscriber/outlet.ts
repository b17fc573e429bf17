import type { StreamEvent, StreamNotice } from '../streams.ts';

/** The part of a door for one subscriber: it encodes and sends, and knows how much its client has left unread. */
export interface Outlet {
  /** The door's name, for metrics and the log. */
  readonly door: 'trpc' | 'socketio';
  /** Whether the client has left so much unread that missed events must wait. */
  readonly full: boolean;
  /** Resolves when it is not full any more, or when the connection has ended. */
  drained(): Promise<void>;
  /** Whether live events wait too while it is full. If not, the door cuts clients that do not read. */
  readonly waits: boolean;
  event(event: StreamEvent): void;
  notice(notice: StreamNotice): void;
  /** Called when every event that this process knows of was sent. */
  settled?(): void;
  /** Called at the end. @param failure the reason; undefined when the client left */
  end(failure: unknown): void;
}

/** The positions where a subscriber begins. */
export interface Start {
  /** A stream without a number of its own begins at this moment, microseconds of the database's clock. */
  readonly momentMicros: number;
  /** The number after which the subscriber begins. */
  numberOf(stream: string): number | undefined;
  /** Notes that the subscriber follows a stream from this number on. */
  begin(stream: string, number: number): void;
  /** The streams that the client may expect, because it could read them at the start. The subscriber removes those that it has followed. */
  readonly expected: Set<string>;
}
