import type { StreamEvent, StreamNotice } from '../streams.ts';

/** What a door does for one subscriber: it encodes and sends, and knows how much its client has left unread. */
export interface Outlet {
  /** The door's name, for metrics and the log. */
  readonly door: 'trpc' | 'socketio';
  /** Whether the client has left so much unread that what it missed must wait. */
  readonly full: boolean;
  /** Resolves when it is not full any more, or when the connection has ended. */
  drained(): Promise<void>;
  /** Whether live events wait too while it is full. If not, the door cuts clients that do not read. */
  readonly waits: boolean;
  event(event: StreamEvent): void;
  notice(notice: StreamNotice): void;
  /** Everything that this process knows of was sent. */
  settled?(): void;
  /** Nothing more will be sent. @param failure why; undefined when the client left */
  end(failure: unknown): void;
}

/** Where a subscriber begins. */
export interface Start {
  /** A stream without a number of its own begins at this moment, microseconds of the database's clock. */
  readonly momentMicros: number;
  /** The number that the subscriber goes on behind. */
  numberOf(stream: string): number | undefined;
  /** Notes that the subscriber follows a stream from this number on, which the moment does not say. */
  begin(stream: string, number: number): void;
}
