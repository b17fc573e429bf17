import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { type Outlet, outletOver } from '../../core/subscription.ts';
import type { Context } from '../../core/trpc/admission.ts';
import { LIMITS } from '../../core/wire.ts';
import { traffic } from '../metrics/metrics.sockets.ts';
import { callOf, messageOf } from './trpc.direct.ts';

/** How much a socket may leave unread before it is cut; the client resumes by `lastEventId`. */
const MAX_BACKLOG_BYTES = LIMITS.bodyBytes;
/** How much a socket may leave unread before its subscriptions wait. */
const SUBSCRIPTION_BACKLOG_BYTES = 256 * 1024;
/** The longest rest between two rounds of writing: too short to be noticed. */
const MAX_REST_MS = 8;

/** Connections whose frames wait to go out together. */
let gathering: Duplex[] = [];
/** Frames are gathered until this time, by `performance.now()`. */
let restUntil = 0;

/**
 * Frames go to the kernel at the end of a turn of the event loop, with one system call for each connection. After a round it rests as
 * long as the round took, and further frames join the next one: one call for several frames costs no more than for one, and calls
 * for each event would take all the time of the process.
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

/** How many calls of a socket may be under way, and the size of their frames, before its next frame waits. */
const MAX_CALLS = 128;
const MAX_BYTES = LIMITS.bodyBytes;
/**
 * How many waiting frames are read ahead. A socket that is not read does not notice that its client is gone, and the calls of the
 * client would go on until a ping stays unanswered.
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
 * A server's socket. Bytes are sent as text, so that one message may go to a thousand sockets. A client that does not read is cut,
 * because the server would have to keep all its messages.
 *
 * One frame of a client is taken in a turn of the event loop (`allowSynchronousEvents` of `ws`), and frames wait while many of its
 * calls are under way. Before the credentials were accepted, one call is under way at a time, and a socket with too many calls in a
 * second is closed with code 1008, whether the calls were refused or not.
 */
export class FrameSocket extends WebSocket {
  /** The connection that was upgraded; set before its first use. */
  connection: Duplex | undefined;
  /** By `performance.now()`. */
  readonly openedAt = performance.now();
  /** Undefined until it is known: a client may announce `connectionParams` and never send them. */
  context: Context | undefined;
  /** True once authentication was attempted by the sweep. */
  isJudged = false;
  /** True once the credentials were found to be those of an account. */
  isProved = false;
  /** Whether the credentials are those of an account; set before its first use. */
  prove: () => Promise<boolean> = async () => false;
  /** The account of the credentials. */
  #accountId: string | undefined;
  #underWay = 0;
  /** The size of all frames since the socket last had no call under way. */
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

  /** Messages wait for their turn. */
  override emit(name: string | symbol, ...sent: unknown[]): boolean {
    return name === 'message' ? this.#take(sent) : super.emit(name, ...sent);
  }

  /** Counts a call. Returns a function that ends it. */
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
    // Frames that wait for the first call do not count: its credentials may be accepted.
    this.#countUnproved();
    const isLong = data instanceof Uint8Array && data.length > LIMITS.openBodyBytes;
    if (this.isProved || !isLong) return super.emit('message', ...message);
    void this.#hearLong(message);
    return true;
  }

  /** Long frames need accepted credentials; others may be as long as a request without credentials. */
  async #hearLong(message: unknown[]): Promise<void> {
    // The next frames wait, as for a call.
    const end = this.begin();
    // The frame before may hold the credentials, which are taken after this turn of the event loop.
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

  /** Takes one of the waiting frames; the next one in another turn. */
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

/** The outlet of a socket, and a function that makes the outlet of one of its calls. */
export function outletOf(socket: WebSocket, connection: Socket) {
  const isFull = () => !connection.destroyed && connection.writableLength > SUBSCRIPTION_BACKLOG_BYTES;
  const outlet = outletOver(connection, isFull);
  /** @param rawInput as the decoder made it */
  const forCall = (rawInput: unknown): Outlet => {
    const call = callOf(rawInput);
    if (!call) return outlet;
    const send: Outlet['send'] = (kind, item, place) => {
      if (kind === 'event') traffic.trpc.delivered += 1;
      socket.send(messageOf(call, kind, item, place));
    };
    return Object.create(outlet, { send: { value: send } });
  };
  return { outlet, forCall };
}
