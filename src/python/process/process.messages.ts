import { AppError } from '../../core/errors.ts';
import { LIMITS } from '../../core/wire.ts';
import type { Payload } from '../channel.ts';
import { MAX_EVENT_BYTES, MAX_EVENTS, MAX_REQUESTS, MAX_SAID_BYTES } from '../limits.ts';
import { CallFailure, type ToolMessage } from '../protocol.ts';
import type { PendingCall } from './call.ts';
import type { Calls } from './calls.ts';
import type { Questions } from './questions.ts';

type CallMessage = Extract<ToolMessage, { call: number }>;
type Begun = Extract<CallMessage, { kind: 'begun' }>;
type Result = Extract<CallMessage, { kind: 'result' }>;
type Failure = Extract<CallMessage, { kind: 'error' }>;

export const TOO_LONG = `must be at most ${LIMITS.freeFormBytes} bytes as JSON`;

/**
 * Handles the messages of a tool's process about its calls, and counts them. The host counts too, but a tool
 * can write to the channel past the host.
 */
export class ToolMessages {
  readonly #calls: Calls;
  readonly #questions: Questions;
  readonly #stopFor: (reason: string) => void;
  /** Messages since the latest answer that belong to no call. */
  #strays = 0;
  #strayBytes = 0;

  /** `stopFor` ends the process; its reason continues a sentence after "because". */
  constructor(calls: Calls, questions: Questions, stopFor: (reason: string) => void) {
    this.#calls = calls;
    this.#questions = questions;
    this.#stopFor = stopFor;
  }

  /** Throws for a message of the wrong form. */
  take(message: CallMessage, payload: Payload | undefined, bytes: number): void {
    if (message.kind === 'begun') {
      if (!this.#calls.begin(message.call, message.cpu_ms)) this.countStray(bytes);
      return;
    }
    if (!payload) throw new TypeError('This kind of message has a payload.');
    const call = this.#calls.find(message.call);
    if (call) return void this.#hear(call, message, payload, bytes);
    this.countStray(bytes);
    // Without an answer, a thread that a function left behind would wait for ever.
    if (message.kind === 'ask' || message.kind === 'request') this.#questions.refuse(message);
  }

  /**
   * Counts a message that belongs to no call: for example an event of a thread that a function left running.
   * Each answered call adds the allowance of one call.
   */
  countStray(bytes: number): void {
    this.#strays += 1;
    this.#strayBytes += bytes;
    if (this.#strays > MAX_EVENTS || this.#strayBytes > MAX_EVENT_BYTES)
      this.#stopFor('it sent too much that belongs to no call');
  }

  #forgetStrays(): void {
    this.#strays = 0;
    this.#strayBytes = 0;
  }

  #hear(call: PendingCall, message: Exclude<CallMessage, Begun>, payload: Payload, bytes: number): void {
    switch (message.kind) {
      case 'event':
        if (!this.#count(call, bytes)) break;
        call.events.push(payload.text);
        call.options.onEvent?.(payload.text);
        break;
      case 'ask':
        if (this.#count(call, bytes)) void this.#questions.ask(call, { ...message, event: payload.text });
        break;
      case 'request':
        // Further requests are refused one by one.
        if (call.requests >= MAX_REQUESTS) this.countStray(bytes);
        this.#questions.request(call, message, payload);
        break;
      case 'result':
        this.#answer(call, message, payload, bytes);
        break;
      case 'error':
        this.#fail(call, message, payload);
    }
  }

  #answer(call: PendingCall, { usage, output }: Result, payload: Payload, bytes: number): void {
    this.#forgetStrays();
    this.#calls.settle(call, ({ events, startedAt, options, resolve, reject }) => {
      options.onUsage?.(usage);
      if (options.isOfItself && bytes > MAX_SAID_BYTES)
        return reject(
          new AppError('tool_raised', { detail: `What the tool says of its valves ${TOO_LONG}.` }),
        );
      const durationMs = performance.now() - startedAt;
      resolve({ result: payload, events, output, durationMs });
    });
  }

  #fail(call: PendingCall, { usage }: Failure, payload: Payload): void {
    const { code, detail, issues } = CallFailure.parse(payload.parse());
    this.#forgetStrays();
    const error = new AppError(code, issues.length > 0 ? { detail, issues } : { detail });
    this.#calls.settle(call, () => {
      call.options.onUsage?.(usage);
      call.reject(error);
    });
  }

  /** Counts an event or a question of a call. Returns false, and ends the process, when it was too much. */
  #count(call: PendingCall, bytes: number): boolean {
    call.eventBytes += bytes;
    const isWithin = call.events.length + call.asks < MAX_EVENTS && call.eventBytes <= MAX_EVENT_BYTES;
    if (!isWithin) this.#stopFor('it emitted too many events');
    return isWithin;
  }
}
