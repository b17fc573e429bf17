import { checkJsonText } from '../../core/json/incoming.ts';
import type { Payload } from '../channel.ts';
import { type Limits, MAX_ASKS, MAX_REQUESTS, MAX_REQUESTS_AT_ONCE, MAX_REQUESTS_HELD } from '../limits.ts';
import type { Reply } from '../protocol.ts';
import type { Clock } from './clock.ts';

const UNAWAITED = 'The caller does not wait for this call any more.';

/** Asks the caller. @param wait.signal fires when the call waits no longer, @param wait.limitMs at the latest then */
export type AskCaller = (event: string, wait: { signal: AbortSignal; limitMs: number }) => Promise<unknown>;

/**
 * A signal fires when the call no longer waits for the answer. The message of a rejection reaches the tool.
 */
export interface Answerers {
  /** Asks the caller. The question is JSON. */
  onAsk?: AskCaller | undefined;
  /** Performs a request of a stand-in for a function. */
  onRequest?: ((operation: string, input: unknown, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** The parts of a call that its questions need. */
export interface Asking {
  options: Answerers;
  asks: number;
  requests: number;
  /** Set from the moment when the tool begins the call. */
  clock: Clock | undefined;
  /** Fires when the call ends for any reason. */
  over: AbortController;
}

/** One question of a call, by the numbers that its answer carries. */
interface Question {
  call: number;
  ask: number;
}

interface Request extends Question {
  operation: string;
}

/** The connection to the process. */
export interface Line {
  send(reply: Reply): void;
  /** Whether the process has read all sent bytes. */
  isRead(): boolean;
  /** Turns reading from the process on or off. */
  listen(isOn: boolean): void;
}

/** Passes the questions of a tool's calls to the client or the server, and the answers back. */
export class Questions {
  readonly #limits: Limits;
  readonly #line: Line;
  readonly #requests: RequestQueue;

  constructor(limits: Limits, line: Line) {
    this.#limits = limits;
    this.#line = line;
    this.#requests = new RequestQueue(line);
  }

  /** Asks the caller. The time of the call stands still meanwhile. */
  async ask(call: Asking, question: Question & { event: string }): Promise<void> {
    // A tool may write a question before it reports that it has begun: the call has no clock then.
    const { clock } = call;
    call.asks += 1;
    clock?.pause();
    await this.#reply(call, question, async (signal) => {
      const { onAsk } = call.options;
      if (!onAsk) {
        const detail =
          'The caller of this function cannot be asked: call it over the subscription tools.run.';
        throw new Error(detail);
      }
      if (call.asks > MAX_ASKS) throw new Error(`A call may ask its caller ${MAX_ASKS} times.`);
      const { askTimeoutMs: limitMs } = this.#limits;
      const isOver = AbortSignal.any([AbortSignal.timeout(limitMs), signal]);
      return onAsk(question.event, { signal: isOver, limitMs });
    });
    clock?.resume();
  }

  /** Asks the server. The payload is the input of the operation; it is parsed when the request gets its turn. */
  request(call: Asking, { call: number, ask, operation }: Request, payload: Payload): void {
    call.requests += 1;
    const problem = problemOf(call, payload);
    const { onRequest } = call.options;
    const find = problem
      ? () => Promise.reject(problem)
      : async (signal: AbortSignal) => onRequest?.(operation, payload.parse(), signal);
    this.#requests.add(call, problem ? 0 : payload.text.length, () =>
      this.#reply(call, { call: number, ask }, find),
    );
  }

  /** Answers a question whose call has ended. */
  refuse(question: Question): void {
    this.#refuse(question, UNAWAITED);
  }

  /** The process has read all sent bytes. */
  goOn(): void {
    this.#requests.goOn();
  }

  /**
   * Sends the answer to a question. When the caller no longer waits, the answer is an error, so that the
   * function can end.
   */
  async #reply(
    { over: { signal } }: Asking,
    { call, ask }: Question,
    find: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    try {
      if (signal.aborted) throw new Error(UNAWAITED);
      this.#line.send({ kind: 'reply', call, ask, answer: (await find(signal)) ?? null, error: null });
    } catch (error) {
      this.#refuse({ call, ask }, error instanceof Error ? error.message : String(error));
    }
  }

  #refuse({ call, ask }: Question, error: string): void {
    this.#line.send({ kind: 'reply', call, ask, answer: null, error });
  }
}

function problemOf({ options, requests }: Asking, { text }: Payload): Error | undefined {
  if (!options.onRequest) return new Error('The server offers nothing to this call.');
  if (requests > MAX_REQUESTS) return new Error(`A call may ask the server ${MAX_REQUESTS} times.`);
  try {
    // Checked like all untrusted input of the server.
    checkJsonText(text);
  } catch (error) {
    return error as Error;
  }
}

interface QueuedRequest {
  characters: number;
  run: () => Promise<void>;
}

/**
 * Requests of a process to the server: a few run at a time, and the calls take turns. A process that does not
 * read its answers gets no more of them: they would fill the memory of the server.
 */
class RequestQueue {
  readonly #line: Line;
  readonly #waiting = new Map<Asking, QueuedRequest[]>();
  #running = 0;
  /** The characters of all requests that wait or run. */
  #held = 0;

  constructor(line: Line) {
    this.#line = line;
  }

  add(call: Asking, characters: number, run: () => Promise<void>): void {
    const others = this.#waiting.get(call);
    if (others) others.push({ characters, run });
    else this.#waiting.set(call, [{ characters, run }]);
    this.#held += characters;
    if (this.#isFull()) this.#line.listen(false);
    this.goOn();
  }

  goOn(): void {
    // While reading is off, the process may be unable to read before it has sent its own messages.
    while (this.#running < MAX_REQUESTS_AT_ONCE && (this.#line.isRead() || this.#isFull())) {
      const [first] = this.#waiting;
      if (!first) return;
      const [call, requests] = first;
      this.#waiting.delete(call);
      const request = requests.shift();
      if (requests.length > 0) this.#waiting.set(call, requests);
      if (request) void this.#run(request);
    }
  }

  #isFull(): boolean {
    return this.#held > MAX_REQUESTS_HELD;
  }

  async #run(request: QueuedRequest): Promise<void> {
    this.#running += 1;
    await request.run();
    this.#running -= 1;
    this.#held -= request.characters;
    if (!this.#isFull()) this.#line.listen(true);
    this.goOn();
  }
}
