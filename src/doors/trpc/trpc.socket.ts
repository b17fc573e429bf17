import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { type Outlet, outletOver } from '../../core/subscription.ts';
import type { Context } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { traffic } from '../metrics/metrics.sockets.ts';
import { callOf, messageOf } from './trpc.direct.ts';

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

/** How many calls of a socket may be under way, and what their frames may hold, before its next frame waits. */
const MAX_CALLS = 128;
const MAX_BYTES = LIMITS.bodyBytes;
/**
 * How much of what waits is read ahead. A socket that is not read does not notice that its client is gone, and the calls of the
 * client would go on until a ping is not answered.
 */
const READ_AHEAD = { frames: 128, bytes: 64 * 1024 };
/** How many frames and calls a second a socket may send before its credentials were accepted. */
const UNPROVED_PER_SECOND = 40;
/** How many sockets one account may have in this process. */
const MAX_OF_ACCOUNT = 200;
/** How long a client that is told to close may take. */
const CLOSE_GRACE_MS = 1000;

const socketsOf = new Map<string, Set<FrameSocket>>();

/**
 * A server's socket. Bytes are sent as text, so that one message may go to a thousand sockets. A client that does not read would make
 * us keep all that it is sent; it is cut instead.
 *
 * What a client sends is taken one frame in a turn of the event loop (`allowSynchronousEvents` of `ws`), and waits while many of its
 * calls are under way. Before its credentials were accepted, one call is under way at a time, and a client that sends more than a few
 * in a second is closed with code 1008, whether the calls were refused or not.
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
  /** Whose they are. */
  #accountId: string | undefined;
  #underWay = 0;
  /** Of the frames that came since no call was under way. */
  #bytes = 0;
  /** Frames that wait, from `#next` on. */
  #waiting: unknown[][] = [];
  #waitingBytes = 0;
  #next = 0;
  #isDue = false;
  #second = 0;
  #count = 0;

  override send(...message: unknown[]): void {
    const [data] = message;
    if (this.bufferedAmount > MAX_BACKLOG_BYTES) this.#cut();
    else if (data instanceof Uint8Array) this.#sendShared(data);
    else super.send(...(message as Parameters<WebSocket['send']>));
  }

  /** A message is heard when it is its turn. */
  override emit(name: string | symbol, ...sent: unknown[]): boolean {
    return name === 'message' ? this.#take(sent) : super.emit(name, ...sent);
  }

  /** Counts a call. Returns how to tell that it has ended. */
  begin(): () => void {
    this.#underWay += 1;
    this.#countUnproved();
    return () => {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#bytes = 0;
      this.#goOnSoon();
    };
  }

  /** The credentials are those of an account, whether or not they may do what a call asks. */
  identify(accountId: string): void {
    this.isProved = true;
    if (this.#accountId !== undefined) return;
    this.#accountId = accountId;
    const sockets = socketsOf.get(accountId) ?? new Set();
    if (sockets.size >= MAX_OF_ACCOUNT) {
      this.closeFor(`This account has ${MAX_OF_ACCOUNT} connections. Close some first.`);
      return;
    }
    socketsOf.set(accountId, sockets.add(this));
    this.once('close', () => {
      sockets.delete(this);
      if (sockets.size === 0) socketsOf.delete(accountId);
    });
  }

  /** Closes the socket for breaking a rule. */
  closeFor(reason: string): void {
    this.close(1008, reason);
    setTimeout(() => this.terminate(), CLOSE_GRACE_MS).unref();
  }

  get #isFull(): boolean {
    if (this.#underWay === 0) return false;
    const most = this.isProved ? MAX_CALLS : 1;
    return this.#underWay >= most || this.#bytes >= MAX_BYTES;
  }

  #take(message: unknown[]): boolean {
    if (this.readyState !== WebSocket.OPEN) return false;
    if (this.#waiting.length === 0 && !this.#isFull) return this.#hear(message);
    const [data] = message;
    this.#waiting.push(message);
    if (data instanceof Uint8Array) this.#waitingBytes += data.length;
    const isAhead = this.#waiting.length >= READ_AHEAD.frames || this.#waitingBytes >= READ_AHEAD.bytes;
    if (isAhead) this.pause();
    return true;
  }

  #hear(message: unknown[]): boolean {
    const [data] = message;
    if (data instanceof Uint8Array) this.#bytes += data.length;
    // Frames that wait for the first call do not count: it may show whose the socket is.
    this.#countUnproved();
    const isLong = data instanceof Uint8Array && data.length > LIMITS.openBodyBytes;
    if (this.isProved || !isLong) return super.emit('message', ...message);
    void this.#hearLong(message);
    return true;
  }

  /** Until it is known whose the socket is, a frame is no longer than a request without credentials. */
  async #hearLong(message: unknown[]): Promise<void> {
    // The next frames wait, as for a call.
    const end = this.begin();
    // The frame before may have brought the credentials, which are taken after this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    this.isProved ||= await this.prove();
    if (this.isProved) super.emit('message', ...message);
    else this.close(1009, 'Connect with credentials before long frames');
    end();
  }

  #goOnSoon(): void {
    if (this.#isDue || this.#waiting.length === 0 || this.#isFull) return;
    this.#isDue = true;
    setImmediate(() => {
      this.#isDue = false;
      this.#goOn();
    });
  }

  /** Hears one of the frames that wait; the next in another turn. */
  #goOn(): void {
    const message = this.#waiting[this.#next];
    if (!message || this.#isFull || this.readyState !== WebSocket.OPEN) return;
    this.#next += 1;
    if (this.#next === this.#waiting.length) {
      this.#waiting = [];
      this.#waitingBytes = 0;
      this.#next = 0;
      this.resume();
    }
    this.#hear(message);
    this.#goOnSoon();
  }

  #countUnproved(): void {
    if (this.isProved || this.readyState !== WebSocket.OPEN) return;
    const second = Math.floor(performance.now() / 1000);
    this.#count = second === this.#second ? this.#count + 1 : 1;
    this.#second = second;
    if (this.#count <= UNPROVED_PER_SECOND) return;
    traffic.trpc.flooded += 1;
    this.closeFor('Too many calls before credentials were accepted');
  }

  #cut(): void {
    if (this.readyState === WebSocket.OPEN) traffic.trpc.cut += 1;
    this.terminate();
  }

  #sendShared(text: Uint8Array): void {
    const { connection } = this;
    if (this.readyState !== WebSocket.OPEN || !connection) return;
    if (connection.writableCorked === 0) gather(connection);
    super.send(text, { binary: false });
  }
}

/** The way to the subscriptions of a socket. */
/** The way to a socket's client, and that to one of its calls. */
export function outletOf(socket: WebSocket, connection: Socket) {
  const isFull = () => !connection.destroyed && connection.writableLength > SUBSCRIPTION_BACKLOG_BYTES;
  const outlet = outletOver(connection, isFull);
  /** @param rawInput as the frame brought it */
  const forCall = (rawInput: unknown): Outlet => {
    const call = callOf(rawInput);
    if (!call) return outlet;
    const send: Outlet['send'] = (item, place) => {
      if (place !== null) traffic.trpc.delivered += 1;
      socket.send(messageOf(call, place, item));
    };
    return Object.create(outlet, { send: { value: send } });
  };
  return { outlet, forCall };
}
