import type { Clock } from './clock.ts';
import { type Limits, MAX_ASKS, MAX_REQUESTS, type Reply } from './protocol.ts';

/** The signals fire when nobody waits for the answer any more; a rejection's message reaches the tool. */
export interface Answerers {
  /** Asks the caller. */
  onAsk?: ((event: unknown, signal: AbortSignal) => Promise<unknown>) | undefined;
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

/** Takes the questions of a tool's calls to whoever answers them, and the answers back. */
export function openQuestions(limits: Limits, send: (reply: Reply) => void) {
  /** Sends what comes of a question. Where nobody waits for the call any more that is an error, so that its function may end. */
  async function reply(
    { over: { signal } }: Asking,
    { call, ask }: Question,
    find: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const answered: Reply = { kind: 'reply', call, ask, answer: null, error: null };
    try {
      if (signal.aborted) throw new Error('Nobody waits for this call any more.');
      answered.answer = (await find(signal)) ?? null;
    } catch (error) {
      answered.error = error instanceof Error ? error.message : String(error);
    }
    send(answered);
  }

  return {
    /** To the caller. The time of the call stands still meanwhile. */
    async ask(call: Asking, question: Question & { event: unknown }): Promise<void> {
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

    /** To the server. */
    async request(
      call: Asking,
      { operation, input, ...question }: Question & { operation: string; input?: unknown },
    ): Promise<void> {
      call.requests += 1;
      await reply(call, question, async (signal) => {
        const { onRequest } = call.options;
        if (!onRequest) throw new Error('The server offers nothing to this call.');
        if (call.requests > MAX_REQUESTS) throw new Error(`A call may ask the server ${MAX_REQUESTS} times.`);
        return onRequest(operation, input, signal);
      });
    },
  };
}
