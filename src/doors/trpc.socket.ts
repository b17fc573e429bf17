import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { type Outlet, outletOver } from '../core/subscription.ts';
import type { Context } from '../core/trpc.ts';
import { LIMITS } from '../core/wire.ts';
import { traffic } from './metrics.sockets.ts';
import { frameOf } from './trpc.encoder.ts';

/** What a socket may leave unread before it is cut; it resumes by `lastEventId`. */
const MAX_BACKLOG_BYTES = LIMITS.bodyBytes;
/** What a socket may leave unread before its subscriptions wait. */
const SUBSCRIPTION_BACKLOG_BYTES = 256 * 1024;
/** The longest rest between two rounds of writing, which nobody notices. */
const MAX_REST_MS = 8;

/** Connections whose frames wait to go out together. */
let gathering: Duplex[] = [];
/** Until then frames are gathered, by `performance.now()`. */
let restUntil = 0;

/**
 * Frames go to the kernel at the end of a turn of the event loop, one call for each connection. While events come faster than that
 * many calls can be made, it takes as long a rest in between, in which the next ones join: else the calls of every single event
 * would take all the time that there is, though those of several together cost no more.
 */
function gather(connection: Duplex): void {
  connection.cork();
  if (gathering.push(connection) > 1) return;
  const rest = restUntil - performance.now();
  // A timer's shortest time is a millisecond.
  if (rest < 1) process.nextTick(sendGathered);
  else setTimeout(sendGathered, rest);
}

function sendGathered(): void {
  const connections = gathering;
  gathering = [];
  const began = performance.now();
  for (const connection of connections) connection.uncork();
  const ended = performance.now();
  restUntil = ended + Math.min(ended - began, MAX_REST_MS);
}

/**
 * A server's socket that takes texts, and bytes that are whole frames already, for one frame may go to a thousand sockets. A client
 * that does not read would make us keep all that it is sent; it is cut instead.
 */
export class FrameSocket extends WebSocket {
  /** What the socket was upgraded on; set before its first use. */
  connection: Duplex | undefined;
  /** By `performance.now()`. */
  readonly openedAt = performance.now();
  /** What it comes with, once that is known: a client may announce that it will say so, and never do. */
  context: Context | undefined;
  /** Whether it was looked at whose it is. */
  isJudged = false;
  /** Whether its credentials are those of an account, once that was asked. */
  isProved = false;
  /** Asks that; set before its first use. */
  prove: () => Promise<boolean> = async () => false;

  /** Until it is known whose the socket is, a frame is no longer than a request without credentials. */
  override emit(event: string | symbol, ...told: unknown[]): boolean {
    const [data] = told;
    const isWeighed = event === 'message' && !this.isProved && Buffer.isBuffer(data);
    if (!isWeighed || data.length <= LIMITS.openBodyBytes) return super.emit(event, ...told);
    this.pause();
    void this.#proveOrClose().then(() => {
      if (this.isProved) super.emit(event, ...told);
      this.resume();
    });
    return true;
  }

  async #proveOrClose(): Promise<void> {
    // The frame before may have brought the credentials, which are taken after this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    this.isProved = await this.prove();
    if (!this.isProved) this.close(1009, 'Connect with credentials before long frames');
  }

  override send(...message: unknown[]): void {
    const [data] = message;
    if (this.bufferedAmount > MAX_BACKLOG_BYTES) this.#cut();
    else if (data instanceof Uint8Array) this.#sendFrame(data);
    else super.send(...(message as Parameters<WebSocket['send']>));
  }

  #cut(): void {
    if (this.readyState === WebSocket.OPEN) traffic.trpc.cut += 1;
    this.terminate();
  }

  #sendFrame(frame: Uint8Array): void {
    const { connection } = this;
    if (this.readyState !== WebSocket.OPEN || !connection || frame.length === 0) return;
    if (connection.writableCorked === 0) gather(connection);
    connection.write(frame);
    traffic.trpc.delivered += 1;
  }
}

/** How many calls a socket may have under way before it is read any further; what one read brought is still begun. */
const MAX_CALLS = 256;

/**
 * Counts the calls of a socket, which may send any number of them before the first is answered: each would take its memory and its
 * place in the queue for the database.
 */
export function callsOf(socket: WebSocket): () => () => void {
  let underWay = 0;
  return () => {
    underWay += 1;
    if (underWay === MAX_CALLS) socket.pause();
    return () => {
      if (underWay === MAX_CALLS) socket.resume();
      underWay -= 1;
    };
  };
}

/** The way to the subscriptions of a socket. */
export function outletOf(socket: WebSocket, connection: Socket): Outlet {
  const isFull = () => !connection.destroyed && connection.writableLength > SUBSCRIPTION_BACKLOG_BYTES;
  const deliver: Outlet['deliver'] = (call, id, event) => socket.send(frameOf(call, id, event));
  return Object.assign(outletOver(connection, isFull), { deliver });
}
