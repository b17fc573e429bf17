import { z } from 'zod';
import type { Outlet as Connection } from '../../core/subscription.ts';
import type { StreamEvent, StreamNotice, Told } from '../../events/streams.ts';
import type { Outlet } from '../../events/subscriber/outlet.ts';
import { traffic } from '../metrics/metrics.sockets.ts';

/** The names of events that a socket wants: one name for all, the name of each type, or both. */
export const Habit = z.enum(['envelope', 'named', 'both']);
export type Habit = z.infer<typeof Habit>;

/**
 * Sends events and notices to sockets. The sockets that get the same event in one turn of the event loop share one broadcast, so the
 * library encodes and frames it once for each name.
 */
export class Broadcasts {
  readonly #broadcast: (socketIds: string[], name: string, told: Told) => void;
  readonly #envelopeOf: (stream: string) => string;
  #told: Told | undefined;
  #enveloped: string[] = [];
  #named: string[] = [];

  constructor(options: {
    broadcast: (socketIds: string[], name: string, told: Told) => void;
    envelopeOf: (stream: string) => string;
  }) {
    this.#broadcast = options.broadcast;
    this.#envelopeOf = options.envelopeOf;
  }

  add(socketId: string, habit: Habit, told: Told): void {
    if (this.#told !== told) this.#flush();
    if (!this.#told) queueMicrotask(() => this.#flush());
    this.#told = told;
    if (habit !== 'named') this.#enveloped.push(socketId);
    if (habit !== 'envelope') this.#named.push(socketId);
  }

  #flush(): void {
    const [told, enveloped, named] = [this.#told, this.#enveloped, this.#named];
    if (!told) return;
    this.#told = undefined;
    this.#enveloped = [];
    this.#named = [];
    if (enveloped.length > 0) this.#broadcast(enveloped, this.#envelopeOf(told.stream), told);
    if (named.length > 0) this.#broadcast(named, told.body.data.type, told);
  }
}

/** The outlet of one Socket.IO socket. */
export class SocketOutlet implements Outlet {
  readonly door = 'socketio';
  /** A client that does not read is cut (`socketio.backlog.ts`). */
  readonly waits = false;
  habit: Habit;
  readonly #socketId: string;
  readonly #connection: Connection;
  readonly #broadcasts: Broadcasts;
  readonly #fail: (failure: unknown) => void;

  /** @param options.fail called when the subscriber has failed and the socket cannot stay */
  constructor(options: {
    socketId: string;
    habit: Habit;
    connection: Connection;
    broadcasts: Broadcasts;
    fail: (failure: unknown) => void;
  }) {
    this.#socketId = options.socketId;
    this.habit = options.habit;
    this.#connection = options.connection;
    this.#broadcasts = options.broadcasts;
    this.#fail = options.fail;
  }

  get full(): boolean {
    return this.#connection.full;
  }

  drained(): Promise<void> {
    return this.#connection.drained();
  }

  event(event: StreamEvent): void {
    traffic.socketio.delivered += 1;
    this.#broadcasts.add(this.#socketId, this.habit, event);
  }

  notice(notice: StreamNotice): void {
    this.#broadcasts.add(this.#socketId, this.habit, notice);
  }

  end(failure: unknown): void {
    if (failure !== undefined) this.#fail(failure);
  }
}
