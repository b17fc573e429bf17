import { AppError } from '../../core/errors.ts';
import { FEWEST_UNBEGUN, type Limits, MAX_UNBEGUN_BYTES, MOST_UNBEGUN } from '../limits.ts';
import { type Answer, type Asked, type CallOptions, NotBegun, type Order, type PendingCall } from './call.ts';
import { Clock } from './clock.ts';

/** How long a message from the process may take to arrive here. */
const GRACE_MS = 250;
const BUSY = 'The tool is busy with other calls and did not turn to this one. Try again in a moment.';

export interface CallsHandlers {
  /** Sends a message. The parts together are its JSON. */
  send(...parts: Buffer[]): void;
  /** The time of the process, in seconds. */
  clock(): number;
  /** Whether the process may have sent a message that is still unread. */
  isUnheard(): boolean;
  /**
   * A call harms the process, so the process must get no further calls. `reason` continues a sentence after
   * "because".
   */
  onHarm(reason: string): void;
  /** A call has ended, or its caller no longer waits. */
  onChange(): void;
}

/**
 * The calls of one process. A call is held until the process has loaded its tool (`open`) and keeps up with the
 * calls before it; then it is sent, and at last begun by the process.
 */
export class Calls {
  readonly #limits: Limits;
  readonly #handlers: CallsHandlers;
  /** By number: every call that has not ended. */
  readonly #calls = new Map<number, PendingCall>();
  readonly #held = new Set<PendingCall>();
  /** Calls that were sent and have not begun. */
  #unbegun = 0;
  #unbegunBytes = 0;
  /** The bound on unbegun calls. It grows while the process begins calls quickly, so that each begins in time. */
  #mostUnbegun = FEWEST_UNBEGUN;
  /** Calls whose callers still wait. */
  #wanted = 0;
  #lastNumber = 0;
  #isOpen = false;

  constructor(limits: Limits, handlers: CallsHandlers) {
    this.#limits = limits;
    this.#handlers = handlers;
  }

  /** The number of calls that the process may still work on. */
  size(): number {
    return this.#calls.size;
  }

  /** The number of calls whose callers still wait. */
  wanted(): number {
    return this.#wanted;
  }

  /** Finds a call that was sent to the process. */
  find(number: number): PendingCall | undefined {
    const call = this.#calls.get(number);
    return call?.state === 'held' ? undefined : call;
  }

  add(order: Order, options: CallOptions): Asked {
    const answer = Promise.withResolvers<Answer>();
    const left = Promise.withResolvers<void>();
    // A caller that has gone does not get the rejection.
    answer.promise.catch(() => {});
    const { signal } = options;
    const abort = () => {
      if (call.state === 'held') this.#fail(call, signal?.reason);
      else this.#abandon(call, signal?.reason);
      this.#handlers.onChange();
    };
    const call: PendingCall = {
      number: ++this.#lastNumber,
      order,
      options,
      state: 'held',
      isAbandoned: false,
      lease: undefined,
      events: [],
      eventBytes: 0,
      asks: 0,
      requests: 0,
      startedAt: 0,
      cpuMs: 0,
      clock: undefined,
      over: new AbortController(),
      resolve: answer.resolve,
      reject: answer.reject,
      leave() {
        signal?.removeEventListener('abort', abort);
        left.resolve();
      },
    };
    this.#calls.set(call.number, call);
    this.#held.add(call);
    this.#wanted += 1;
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted) abort();
    this.#sendHeld();
    return { answer: answer.promise, left: left.promise };
  }

  /** The process has loaded its tool. */
  open(): void {
    this.#isOpen = true;
    this.#sendHeld();
  }

  /** The process has begun a call, so the time of the call starts. Returns false for a call that was not sent. */
  begin(number: number, cpuMs: number): boolean {
    const call = this.#calls.get(number);
    if (call?.state !== 'sent') return false;
    call.state = 'begun';
    call.cpuMs = cpuMs;
    this.#countBegun(call);
    const isSoon = performance.now() - call.startedAt < this.#limits.beginMs / 8;
    this.#mostUnbegun = isSoon
      ? Math.min(this.#mostUnbegun + 1, MOST_UNBEGUN)
      : Math.max(this.#mostUnbegun >> 1, FEWEST_UNBEGUN);
    clearTimeout(call.lease);
    call.clock = new Clock(call.options.timeoutMs, () => this.#timeOut(call));
    this.#sendHeld();
    return true;
  }

  /** The process has answered a call. */
  settle(call: PendingCall, how: (call: PendingCall) => void): void {
    this.#remove(call);
    how(call);
    this.#sendHeld();
    this.#handlers.onChange();
  }

  /** Fails the held calls with the error. No further call is sent. */
  failHeld(error: Error): void {
    this.#isOpen = false;
    for (const call of this.#held) this.#fail(call, error);
  }

  /** Fails all calls, each with the error from `errorOf`. */
  failAll(errorOf: (call: PendingCall) => Error): void {
    this.#isOpen = false;
    for (const call of [...this.#calls.values()]) this.#fail(call, errorOf(call));
  }

  /** Sends what is held, as long as the process keeps up. */
  #sendHeld(): void {
    for (const call of this.#held) {
      const isBehind = this.#unbegun >= this.#mostUnbegun || this.#unbegunBytes >= MAX_UNBEGUN_BYTES;
      if (!this.#isOpen || isBehind) return;
      this.#send(call);
    }
  }

  #send(call: PendingCall): void {
    const { beginMs } = this.#limits;
    this.#held.delete(call);
    call.state = 'sent';
    this.#unbegun += 1;
    this.#unbegunBytes += call.order.body.length;
    call.startedAt = performance.now();
    // After that time the process does not begin the call. Earlier messages are read first.
    this.#lend(call, beginMs + GRACE_MS);
    const beginBefore = this.#handlers.clock() + beginMs / 1000;
    this.#handlers.send(
      Buffer.from(`{"call":${call.number},"begin_before":${beginBefore},`),
      call.order.body.subarray(1),
    );
  }

  #countBegun(call: PendingCall): void {
    this.#unbegun -= 1;
    this.#unbegunBytes -= call.order.body.length;
  }

  /** Gives the process so much time to begin the call. */
  #lend(call: PendingCall, timeMs: number): void {
    call.lease = setTimeout(() => setImmediate(() => this.#expire(call)), timeMs);
  }

  #expire(call: PendingCall): void {
    if (!this.#calls.has(call.number) || call.state !== 'sent') return;
    // The call may have begun, and that message may be unread. Another process must not get the call too.
    if (this.#handlers.isUnheard()) return void this.#lend(call, GRACE_MS);
    const error = new AppError('python_unavailable', { detail: BUSY, retryAfterSeconds: 5 });
    this.#fail(call, new NotBegun(error, true));
    this.#handlers.onHarm('it did not turn to a call');
    this.#handlers.onChange();
  }

  #timeOut(call: PendingCall): void {
    const detail = `${call.order.name} took longer than ${call.options.timeoutMs / 1000} s and was stopped.`;
    this.#abandon(call, new AppError('tool_timeout', { detail }));
    this.#handlers.onHarm('another call of it took too long');
    this.#handlers.onChange();
  }

  /** Answers the caller with the error; the process may still work on the call. */
  #abandon(call: PendingCall, error: unknown): void {
    call.reject(error);
    if (!call.isAbandoned) this.#wanted -= 1;
    call.isAbandoned = true;
    call.over.abort();
  }

  /** Ends the call with the error. */
  #fail(call: PendingCall, error: unknown): void {
    call.reject(error);
    this.#remove(call);
  }

  #remove(call: PendingCall): void {
    this.#calls.delete(call.number);
    this.#held.delete(call);
    if (call.state === 'sent') this.#countBegun(call);
    if (!call.isAbandoned) this.#wanted -= 1;
    clearTimeout(call.lease);
    call.clock?.stop();
    call.over.abort();
    call.leave();
  }
}
