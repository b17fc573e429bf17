import { AppError } from '../../core/errors.ts';
import type { Payload } from '../channel.ts';
import {
  FEWEST_UNBEGUN,
  type Limits,
  MAX_UNBEGUN_BYTES,
  MOST_UNBEGUN,
  type ToolRequest,
  type Usage,
} from '../protocol.ts';
import { Clock } from './clock.ts';
import type { Answerers, Asking } from './questions.ts';

/** How long a message from the process may take to arrive here. */
const GRACE_MS = 250;
const BUSY = 'The tool is busy with other calls and did not turn to this one. Try again in a moment.';

export interface CallOptions extends Answerers {
  timeoutMs: number;
  signal: AbortSignal | undefined;
  /** Whether the answer describes the tool itself. Such an answer is stored or shown, so it must be short. */
  isOfItself?: boolean | undefined;
  /** Gets JSON. */
  onEvent?: ((event: string) => void) | undefined;
  /**
   * Called with the usage of the call: before the answer, or when the process ends with the call. Never
   * called for a call that did not begin.
   */
  onUsage?: ((usage: Usage) => void) | undefined;
}

export interface Answer {
  result: Payload;
  /** What the function emitted, in order, as JSON. */
  events: string[];
  /** The end of the printed output. */
  output: string;
  /** From the moment at which the loaded tool was asked. */
  durationMs: number;
}

/** A request to a tool, and its name in sentences. */
export interface Order {
  name: string;
  /** The request as JSON. */
  body: Buffer;
}

export function encodeOrder(request: ToolRequest): Order {
  const name = request.kind === 'call' ? `The function ${request.function}` : 'The code of the valves';
  return { name, body: Buffer.from(JSON.stringify(request)) };
}

/** The process ran no code of the tool for this call, so another process may get the call. */
export class NotBegun extends Error {
  /** The error for the caller when no other process gets the call. */
  readonly error: AppError;
  /** Whether a call harmed the process. */
  readonly isHarmed: boolean;

  constructor(error: AppError, isHarmed: boolean) {
    super(error.message);
    this.error = error;
    this.isHarmed = isHarmed;
  }
}

export interface Asked {
  /** Rejects with NotBegun or an AppError, or with the reason of the signal. */
  answer: Promise<Answer>;
  /** Resolves when the process no longer works on the call. An abandoned call may run on for a while. */
  left: Promise<void>;
}

export interface PendingCall extends Asking {
  number: number;
  order: Order;
  options: CallOptions;
  state: 'held' | 'sent' | 'begun';
  /** The caller no longer waits, but the call may still run: a thread cannot be stopped. */
  isAbandoned: boolean;
  /** The deadline for a call that was sent and has not begun. */
  lease: NodeJS.Timeout | undefined;
  events: string[];
  eventBytes: number;
  startedAt: number;
  /** CPU time of the process when the call began. */
  cpuMs: number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
  /** The caller has gone, and the process has finished the call. */
  leave(): void;
}

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

/** The calls of one process, from the moment at which it gets them. They are held until `open`. */
export function openCalls(limits: Limits, { send, clock, isUnheard, onHarm, onChange }: CallsHandlers) {
  const calls = new Map<number, PendingCall>();
  const held = new Set<PendingCall>();
  /** Calls that were sent and have not begun. */
  const unbegun = { calls: 0, bytes: 0 };
  /**
   * The bound on unbegun calls. It grows while the process begins calls quickly, so that each call begins in
   * time.
   */
  let most = FEWEST_UNBEGUN;
  let wanted = 0;
  let last = 0;
  let isOpen = false;

  /** Sends what is held, as long as the process keeps up. */
  function sendHeld(): void {
    for (const call of held) {
      const isBehind = unbegun.calls >= most || unbegun.bytes >= MAX_UNBEGUN_BYTES;
      if (!isOpen || isBehind) return;
      held.delete(call);
      call.state = 'sent';
      unbegun.calls += 1;
      unbegun.bytes += call.order.body.length;
      call.startedAt = performance.now();
      // After that time the process does not begin the call. Earlier messages are read first.
      lend(call, limits.beginMs + GRACE_MS);
      const beginBefore = clock() + limits.beginMs / 1000;
      send(Buffer.from(`{"call":${call.number},"begin_before":${beginBefore},`), call.order.body.subarray(1));
    }
  }

  function lend(call: PendingCall, timeMs: number): void {
    call.lease = setTimeout(() => setImmediate(expire, call), timeMs);
  }

  function countBegun(call: PendingCall): void {
    unbegun.calls -= 1;
    unbegun.bytes -= call.order.body.length;
  }

  function expire(call: PendingCall): void {
    if (!calls.has(call.number) || call.state !== 'sent') return;
    // The call may have begun, and that message may be unread. Another process must not get the call too.
    if (isUnheard()) return void lend(call, GRACE_MS);
    const error = new AppError('python_unavailable', { detail: BUSY, retryAfterSeconds: 5 });
    fail(call, new NotBegun(error, true));
    onHarm('it did not turn to a call');
    onChange();
  }

  function abandon(call: PendingCall, error: unknown): void {
    call.reject(error);
    if (!call.isAbandoned) wanted -= 1;
    call.isAbandoned = true;
    call.over.abort();
  }

  function fail(call: PendingCall, error: unknown): void {
    call.reject(error);
    remove(call);
  }

  function remove(call: PendingCall): void {
    calls.delete(call.number);
    held.delete(call);
    if (call.state === 'sent') countBegun(call);
    if (!call.isAbandoned) wanted -= 1;
    clearTimeout(call.lease);
    call.clock?.stop();
    call.over.abort();
    call.leave();
  }

  return {
    /** The number of calls that the process may still work on. */
    size: () => calls.size,
    /** The number of calls whose callers still wait. */
    wanted: () => wanted,
    /** Finds a call that was sent to the process. */
    find: (number: number) => {
      const call = calls.get(number);
      return call?.state === 'held' ? undefined : call;
    },

    add(order: Order, options: CallOptions): Asked {
      const answer = Promise.withResolvers<Answer>();
      const left = Promise.withResolvers<void>();
      // A caller that has gone does not get the rejection.
      answer.promise.catch(() => {});
      const { signal } = options;
      const abort = () => {
        if (call.state === 'held') fail(call, signal?.reason);
        else abandon(call, signal?.reason);
        onChange();
      };
      const call: PendingCall = {
        number: ++last,
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
      calls.set(call.number, call);
      held.add(call);
      wanted += 1;
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted) abort();
      sendHeld();
      return { answer: answer.promise, left: left.promise };
    },

    /** The process has loaded its tool. */
    open(): void {
      isOpen = true;
      sendHeld();
    },

    /**
     * The process has begun a call, so the time of the call starts. Returns false for a call that was not
     * sent.
     */
    begin(number: number, cpuMs: number): boolean {
      const call = calls.get(number);
      if (call?.state !== 'sent') return false;
      call.state = 'begun';
      call.cpuMs = cpuMs;
      countBegun(call);
      const isSoon = performance.now() - call.startedAt < limits.beginMs / 8;
      most = isSoon ? Math.min(most + 1, MOST_UNBEGUN) : Math.max(most >> 1, FEWEST_UNBEGUN);
      clearTimeout(call.lease);
      const { timeoutMs } = call.options;
      call.clock = new Clock(timeoutMs, () => {
        const detail = `${call.order.name} took longer than ${timeoutMs / 1000} s and was stopped.`;
        abandon(call, new AppError('tool_timeout', { detail }));
        onHarm('another call of it took too long');
        onChange();
      });
      sendHeld();
      return true;
    },

    /** The process has answered a call. */
    settle(call: PendingCall, how: (call: PendingCall) => void): void {
      remove(call);
      how(call);
      sendHeld();
      onChange();
    },

    /** Fails the held calls with the error. No further call is sent. */
    failHeld(error: Error): void {
      isOpen = false;
      for (const call of held) fail(call, error);
    },

    /** Fails all calls, each with the error from `errorOf`. */
    failAll(errorOf: (call: PendingCall) => Error): void {
      isOpen = false;
      for (const call of [...calls.values()]) fail(call, errorOf(call));
    },
  };
}
