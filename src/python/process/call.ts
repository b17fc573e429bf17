import type { AppError } from '../../core/errors.ts';
import type { Payload } from '../channel.ts';
import type { ToolRequest, Usage } from '../protocol.ts';
import type { Answerers, Asking } from './questions.ts';

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
