import { checkJsonText } from '../../core/json/incoming.ts';
import type { Payload } from '../channel.ts';
import {
  type Limits,
  MAX_ASKS,
  MAX_REQUESTS,
  MAX_REQUESTS_AT_ONCE,
  MAX_REQUESTS_HELD,
  type Reply,
} from '../protocol.ts';
import type { Clock } from './clock.ts';

const UNAWAITED = 'The caller does not wait for this call any more.';

/**
 * A signal fires when the call no longer waits for the answer. The message of a rejection reaches the tool.
 */
export interface Answerers {
  /** Asks the caller. The question is JSON. */
  onAsk?: ((event: string, signal: AbortSignal) => Promise<unknown>) | undefined;
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
export function openQuestions(limits: Limits, line: Line) {
  const requests = openRequests(line);

  /**
   * Sends the answer to a question. When the caller no longer waits, the answer is an error, so that the
   * function can end.
   */
  async function reply(
    { over: { signal } }: Asking,
    { call, ask }: Question,
    find: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    try {
      if (signal.aborted) throw new Error(UNAWAITED);
      line.send({ kind: 'reply', call, ask, answer: (await find(signal)) ?? null, error: null });
    } catch (error) {
      refuse({ call, ask }, error instanceof Error ? error.message : String(error));
    }
  }

  function refuse({ call, ask }: Question, error: string): void {
    line.send({ kind: 'reply', call, ask, answer: null, error });
  }

  return {
    /** Asks the caller. The time of the call stands still meanwhile. */
    async ask(call: Asking, question: Question & { event: string }): Promise<void> {
      // A tool may write a question before it reports that it has begun: the call has no clock then.
      const { clock } = call;
      call.asks += 1;
      clock?.pause();
      await reply(call, question, async (signal) => {
        const { onAsk } = call.options;
        if (!onAsk) {
          const detail =
            'The caller of this function cannot be asked: call it over the subscription tools.run.';
          throw new Error(detail);
        }
        if (call.asks > MAX_ASKS) throw new Error(`A call may ask its caller ${MAX_ASKS} times.`);
        return onAsk(question.event, AbortSignal.any([AbortSignal.timeout(limits.askTimeoutMs), signal]));
      });
      clock?.resume();
    },

    /**
     * Asks the server. The payload is the input of the operation, and is parsed when the request gets its
     * turn.
     */
    request(call: Asking, { call: number, ask, operation }: Request, payload: Payload): void {
      call.requests += 1;
      const problem = problemOf(call, payload);
      const { onRequest } = call.options;
      const find = problem
        ? () => Promise.reject(problem)
        : async (signal: AbortSignal) => onRequest?.(operation, payload.parse(), signal);
      requests.add(call, problem ? 0 : payload.text.length, () => reply(call, { call: number, ask }, find));
    },

    /** Answers a question whose call has ended. */
    refuse: (question: Question) => refuse(question, UNAWAITED),

    /** The process has read all sent bytes. */
    goOn: requests.goOn,
  };
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

/**
 * Requests of a process to the server: a few run at a time, and the calls take turns. A process that does not
 * read its answers gets no more of them: they would fill the memory of the server.
 */
function openRequests({ isRead, listen }: Line) {
  const waiting = new Map<Asking, { characters: number; run: () => Promise<void> }[]>();
  let running = 0;
  let held = 0;

  const isFull = () => held > MAX_REQUESTS_HELD;

  function goOn(): void {
    // While reading is off, the process may be unable to read before it has sent its own messages.
    while (running < MAX_REQUESTS_AT_ONCE && (isRead() || isFull())) {
      const [first] = waiting;
      if (!first) return;
      const [call, requests] = first;
      waiting.delete(call);
      const request = requests.shift();
      if (requests.length > 0) waiting.set(call, requests);
      if (request) void run(request);
    }
  }

  async function run(request: { characters: number; run: () => Promise<void> }): Promise<void> {
    running += 1;
    await request.run();
    running -= 1;
    held -= request.characters;
    if (!isFull()) listen(true);
    goOn();
  }

  return {
    goOn,
    add(call: Asking, characters: number, run: () => Promise<void>): void {
      const others = waiting.get(call);
      if (others) others.push({ characters, run });
      else waiting.set(call, [{ characters, run }]);
      held += characters;
      if (isFull()) listen(false);
      goOn();
    },
  };
}
