import { checkJsonText } from '../core/incoming.ts';
import type { Payload } from './channel.ts';
import type { Clock } from './clock.ts';
import {
  type Limits,
  MAX_ASKS,
  MAX_REQUESTS,
  MAX_REQUESTS_AT_ONCE,
  MAX_REQUESTS_HELD,
  type Reply,
} from './protocol.ts';

const UNAWAITED = 'The caller does not wait for this call any more.';

/** The signals fire when nobody waits for the answer any more; a rejection's message reaches the tool. */
export interface Answerers {
  /** Asks the caller; the question is JSON. */
  onAsk?: ((event: string, signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Does for a function what its stand-ins ask of the server. */
  onRequest?: ((operation: string, input: unknown, signal: AbortSignal) => Promise<unknown>) | undefined;
}

/** What of a call its questions need. */
export interface Asking {
  options: Answerers;
  asks: number;
  requests: number;
  /** From the moment at which it was asked. */
  clock: Clock | undefined;
  /** Fires at its end, whatever that is. */
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

/** The way to the process. */
export interface Line {
  send(reply: Reply): void;
  /** Whether it has read what it was sent. */
  isRead(): boolean;
  /** Whether to go on reading what it says. */
  listen(isOn: boolean): void;
}

/** Takes the questions of a tool's calls to whoever answers them, and the answers back. */
export function openQuestions(limits: Limits, line: Line) {
  const requests = openRequests(line);

  /** Sends what comes of a question. Where nobody waits for the call any more that is an error, so that its function may end. */
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
    /** To the caller. The time of the call stands still meanwhile. */
    async ask(call: Asking, question: Question & { event: string }): Promise<void> {
      // A tool may write that it asks before it says that it has begun: the clock of that time is none.
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

    /** To the server; the payload is the input of the operation, and is parsed when its turn comes. */
    request(call: Asking, { call: number, ask, operation }: Request, payload: Payload): void {
      call.requests += 1;
      const problem = problemOf(call, payload);
      const { onRequest } = call.options;
      const find = problem
        ? () => Promise.reject(problem)
        : async (signal: AbortSignal) => onRequest?.(operation, payload.parse(), signal);
      requests.add(call, problem ? 0 : payload.text.length, () => reply(call, { call: number, ask }, find));
    },

    /** For what is asked of nobody: its call is over. */
    refuse: (question: Question) => refuse(question, UNAWAITED),

    /** The process has read what it was sent. */
    goOn: requests.goOn,
  };
}

function problemOf({ options, requests }: Asking, { text }: Payload): Error | undefined {
  if (!options.onRequest) return new Error('The server offers nothing to this call.');
  if (requests > MAX_REQUESTS) return new Error(`A call may ask the server ${MAX_REQUESTS} times.`);
  try {
    // As whatever else strangers send to the server.
    checkJsonText(text);
  } catch (error) {
    return error as Error;
  }
}

/**
 * What a process asks of the server, some of it at a time, each call in turn. A process that does not read the answers gets no
 * more of them: they would wait in the memory of the server.
 */
function openRequests({ isRead, listen }: Line) {
  const waiting = new Map<Asking, { characters: number; run: () => Promise<void> }[]>();
  let running = 0;
  let held = 0;

  const isFull = () => held > MAX_REQUESTS_HELD;

  function goOn(): void {
    // A process that is not heard may be unable to read before it has said what it wants to say.
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
