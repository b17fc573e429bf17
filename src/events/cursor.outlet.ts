import type { Outlet as Connection } from '../core/subscription.ts';
import type { CursorKeeper } from './cursor.ts';
import type { StreamEvent, StreamNotice } from './streams.ts';
import type { Outlet } from './subscriber/outlet.ts';

/**
 * The outlet of a tRPC subscription: each event carries a cursor, which the client sends back as `lastEventId`. Nothing is sent before
 * the client knows that the subscription has started.
 */
export class CursorOutlet implements Outlet {
  readonly door = 'trpc';
  readonly waits = true;
  /** Resolves with the failure, or undefined, when the subscription has ended. */
  readonly ended: Promise<unknown>;
  readonly #connection: Connection;
  readonly #send: NonNullable<Connection['send']>;
  readonly #keeper: CursorKeeper;
  readonly #started = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<unknown>();
  #isOpen = false;
  #latest: string | null = null;

  constructor(connection: Connection, send: NonNullable<Connection['send']>, keeper: CursorKeeper) {
    this.#connection = connection;
    this.#send = send;
    this.#keeper = keeper;
    this.ended = this.#end.promise;
  }

  get full(): boolean {
    return !this.#isOpen || this.#connection.full;
  }

  async drained(): Promise<void> {
    await this.#started.promise;
    await this.#connection.drained();
  }

  /** The client knows of the subscription. */
  start(): void {
    this.#isOpen = true;
    this.#started.resolve();
  }

  event(event: StreamEvent): void {
    const at = event.atNs ?? Date.now() * 1_000_000;
    this.#latest = this.#keeper.advance(event.stream, event.number, at);
    this.#send('event', event, this.#latest);
  }

  /** It has the cursor of the last event, because tRPC's client resumes by the last item, and forgets its place after one without an id. */
  notice(notice: StreamNotice): void {
    this.#send('notice', notice, this.#latest);
  }

  settled(): void {
    this.#keeper.settle();
  }

  end(failure: unknown): void {
    this.#started.resolve();
    this.#end.resolve(failure);
  }
}
