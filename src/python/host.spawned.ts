import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { type FrameReader, type Payload, writeFrame } from './channel.ts';
import type { HostOrder, HostReport } from './protocol.ts';

/** The shortest time between two notices to the fork server that a process gets calls. */
const CALLED_MS = 500;

type EndReport = Extract<HostReport, { kind: 'ended' }>;

/**
 * How a process ended: its exit status or signal, and the limit that it exceeded. All are null when the whole
 * host has ended.
 */
export type Ended = { [K in 'code' | 'signal' | 'exceeded' | 'usage']: EndReport[K] | null };

/** A process of the fork server, as its user sees it. */
export interface SpawnedProcess {
  /** Rejects when the process could not be started or could not give up its rights. */
  readonly connected: Promise<void>;
  /** Resolves when the process and all processes that it started have ended. */
  readonly ended: Promise<Ended>;
  /** Sends a message. The parts together are its JSON. */
  send(...parts: Buffer[]): void;
  /** How many sent bytes the process has not read. */
  unread(): number;
  /** Whether the process has read nearly all sent bytes. */
  isRead(): boolean;
  /** Turns reading from the process on or off. */
  listen(isOn: boolean): void;
  /** Whether the process may have sent messages that are unread because reading is off. */
  isUnheard(): boolean;
  /** Restarts the count of the processor time that the process may use; takes effect within a second. */
  countAnew(): void;
  /** The time by the clock of the process, in seconds; a lower bound. */
  clock(): number;
  /** Ends the process and all processes that it started, at once. */
  kill(): void;
}

export interface SpawnHandlers {
  /** `bytes`: the size of the head (`message`) and the payload. */
  onMessage(message: unknown, payload: Payload | undefined, bytes: number): void;
  /** The process has read all sent bytes after a backlog. */
  onRead(): void;
  /** The process violated the protocol; its channel is already closed. */
  onFault(reason: string): void;
}

/** A process of the fork server, as the host sees it: ordered, then connected, then ended. */
export class Spawned implements SpawnedProcess {
  readonly number: number;
  /** The process that sends this token is the one that was spawned. */
  readonly token = randomBytes(16).toString('hex');
  readonly handlers: SpawnHandlers;
  readonly connected: Promise<void>;
  readonly ended: Promise<Ended>;
  readonly #connection = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<Ended>();
  readonly #order: (message: HostOrder) => void;
  #socket: Socket | undefined;
  #reader: FrameReader | undefined;
  #clockOffset = 0;
  #calledAt = Number.NEGATIVE_INFINITY;

  constructor(number: number, handlers: SpawnHandlers, order: (message: HostOrder) => void) {
    this.number = number;
    this.handlers = handlers;
    this.#order = order;
    this.connected = this.#connection.promise;
    this.connected.catch(() => {});
    this.ended = this.#end.promise;
  }

  /** The process has connected. `clock`: the time by its clock, in seconds. */
  connect(socket: Socket, reader: FrameReader, clock: number): void {
    this.#socket = socket;
    this.#reader = reader;
    // A process without its channel is useless.
    socket.on('close', () => this.kill());
    socket.on('drain', () => this.handlers.onRead());
    this.#clockOffset = clock - performance.now() / 1000;
    this.#connection.resolve();
  }

  /** Rejects `connected`, unless the process has connected. */
  refuse(reason: string): void {
    this.#connection.reject(new Error(reason));
  }

  /** The process has ended. `reason`: why it never connected. */
  end(reason: string, ended: Ended): void {
    this.#socket?.destroy();
    this.refuse(reason);
    this.#end.resolve(ended);
  }

  /**
   * As `end`, after what the process sent before its end and is still in the socket: that is read in this turn
   * of the event loop, and a long frame takes several turns.
   */
  endOnceRead(reason: string, ended: Ended): void {
    setImmediate(() => {
      if (this.#reader?.isChecking()) this.endOnceRead(reason, ended);
      else this.end(reason, ended);
    });
  }

  send(...parts: Buffer[]): void {
    if (this.#socket && !this.#socket.destroyed) writeFrame(this.#socket, ...parts);
  }

  unread(): number {
    return this.#socket?.writableLength ?? 0;
  }

  isRead(): boolean {
    return !this.#socket?.writableNeedDrain;
  }

  listen(isOn: boolean): void {
    this.#reader?.listen(isOn);
  }

  isUnheard(): boolean {
    return this.#reader?.isBehind() ?? false;
  }

  countAnew(): void {
    if (performance.now() - this.#calledAt < CALLED_MS) return;
    this.#calledAt = performance.now();
    this.#order({ op: 'called', number: this.number });
  }

  clock(): number {
    return this.#clockOffset + performance.now() / 1000;
  }

  /** Does nothing to a process that has already ended. */
  kill(): void {
    this.#order({ op: 'kill', number: this.number });
  }
}
