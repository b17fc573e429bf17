import { isObject } from '../../core/json/json.ts';
import type { Connected } from '../connections.settings.ts';
import { failed, failureOf, type ProviderFailure, timedOut } from '../providers.failures.ts';
import type { ChatChunk, ChatStream } from '../providers.types.ts';
import type { ChunkReader } from './chunks.ts';
import { closePace, nextRead, openPace } from './pace.ts';

/** Chunks before the first token that are kept; more of them are no answer. */
const MOST_EMPTY = 100;

export interface ChatAnswer extends ChatStream {
  /** Ends the call. Does nothing when it has ended. */
  end(): void;
}

interface Opening {
  ask(signal: AbortSignal): Promise<ChunkReader>;
  settings: Connected;
  /** Ends the call. */
  signal: AbortSignal;
  /** Called once, when a stream that has begun has ended. */
  onEnd(): void;
  /** Gets the failure of a stream that has begun. */
  onFailure(failure: ProviderFailure): void;
}

/** Resolves with the first token of a stream. @throws what the provider or its limits of time throw; the caller then counts the end */
export async function openChat({ ask, settings, signal, onEnd, onFailure }: Opening): Promise<ChatAnswer> {
  const watch = new Watch(settings, signal);
  try {
    const chunks = await watch.guard(ask(watch.signal));
    const first: ChatChunk[] = [];
    for (;;) {
      const value = chunks.take();
      if (value === undefined) {
        if (await watch.guard(chunks.read())) continue;
        throw failed(`${settings.name} ended its answer before the first token.`);
      }
      const chunk = checked(settings.name, value);
      if (chunk) first.push(chunk);
      if (chunk && hasToken(chunk)) break;
      if (first.length > MOST_EMPTY) throw failed(`${settings.name} sends no tokens.`);
    }
    watch.begin();
    watch.onEnd = onEnd;
    return {
      connection: settings.name,
      end: () => watch.end(),
      [Symbol.asyncIterator]: () => flow(first, chunks, { settings, watch, signal, onFailure }),
    };
  } catch (error) {
    watch.end();
    throw watch.reason ?? error;
  }
}

interface Flow extends Pick<Opening, 'settings' | 'signal' | 'onFailure'> {
  watch: Watch;
}

async function* flow(
  first: ChatChunk[],
  chunks: ChunkReader,
  { settings, watch, signal, onFailure }: Flow,
): AsyncGenerator<ChatChunk> {
  let isFinished = false;
  try {
    for (const chunk of first) {
      isFinished ||= Boolean(chunk.choices[0]?.finish_reason);
      yield chunk;
    }
    for (;;) {
      const value = chunks.take();
      if (value === undefined) {
        const turn = nextRead();
        if (turn) await turn;
        if (!(await watch.guard(chunks.read()))) break;
        continue;
      }
      // Comments, which some providers send while they wait, are no tokens.
      watch.touch();
      const chunk = checked(settings.name, value);
      if (!chunk) continue;
      isFinished ||= Boolean(chunk.choices[0]?.finish_reason);
      yield chunk;
    }
    if (!isFinished) throw watch.reason ?? failed(`${settings.name} broke its answer off.`);
    watch.isWhole = true;
    void chunks.finish();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const failure = failureOf(settings, watch.reason ?? error);
    onFailure(failure);
    throw failure;
  } finally {
    watch.end();
  }
}

/** The reason of a signal at the end of a call. Without one, each call would make an exception with its stack. */
const ENDED = new Error('The call has ended.');

/** The limits of time of one call. */
class Watch {
  /** Fires when the call ends before its answer does. */
  readonly signal: AbortSignal;
  /** The limit that ended the call. */
  reason: unknown;
  onEnd: (() => void) | undefined;
  /** The answer has come to its end: the connection to the provider stays open for the next call. */
  isWhole = false;
  readonly #settings: Connected;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #total: NodeJS.Timeout;
  #token: NodeJS.Timeout;
  #hasBegun = false;
  #isOver = false;

  constructor(settings: Connected, outer: AbortSignal) {
    const { name, firstTokenMs, totalMs } = settings;
    this.#settings = settings;
    this.signal = this.#controller.signal;
    this.#outer = outer;
    outer.addEventListener('abort', this.#leave, { once: true });
    if (outer.aborted) this.#leave();
    this.#total = this.#after(totalMs, `${name} took longer than ${totalMs / 1000} seconds for its answer.`);
    this.#token = this.#after(firstTokenMs, `${name} sent no token within ${firstTokenMs / 1000} seconds.`);
  }

  /** The first token is there. */
  begin(): void {
    const { name, betweenTokensMs } = this.#settings;
    if (!this.#isOver) {
      openPace();
      this.#hasBegun = true;
    }
    clearTimeout(this.#token);
    this.#token = this.#after(
      betweenTokensMs,
      `${name} sent no token for ${betweenTokensMs / 1000} seconds.`,
    );
  }

  /** A further token is there. */
  touch(): void {
    this.#token.refresh();
  }

  /** The outcome of the promise; a rejection as soon as the call has ended. */
  async guard<T>(promise: Promise<T>): Promise<T> {
    if (this.#controller.signal.aborted) {
      promise.catch(() => {});
      throw this.reason ?? this.#outer.reason;
    }
    return promise;
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#total);
    clearTimeout(this.#token);
    this.#outer.removeEventListener('abort', this.#leave);
    if (!this.isWhole) this.#controller.abort(this.reason ?? ENDED);
    if (this.#hasBegun) closePace();
    this.onEnd?.();
  }

  readonly #leave = (): void => {
    this.reason ??= this.#outer.reason;
    this.end();
  };

  #after(ms: number, detail: string): NodeJS.Timeout {
    return setTimeout(() => {
      this.reason ??= timedOut(detail);
      this.end();
    }, ms).unref();
  }
}

/** The members of a delta that hold what the model writes. */
const TOKENS = [
  ...['content', 'tool_calls', 'reasoning_content', 'reasoning', 'refusal', 'function_call', 'audio'],
];

/** Members of our own extension, and of events of comparable systems, which clients would believe. */
const FORGEABLE = ['parley', 'event'];

const hasToken = ({ choices }: ChatChunk): boolean =>
  choices.some(({ delta, finish_reason }) => {
    if (finish_reason) return true;
    const members = (delta ?? {}) as Record<string, unknown>;
    return TOKENS.some((name) => members[name]);
  });

/** The chunk, when it has the shape that our code reads; undefined for events of another kind. @throws provider_failed */
function checked(name: string, value: unknown): ChatChunk | undefined {
  if (!isObject(value)) throw failed(`${name} sent a piece of its answer that is no chunk.`);
  for (const name of FORGEABLE) if (name in value) Reflect.deleteProperty(value, name);
  const { choices } = value;
  if (choices === undefined || choices === null) {
    // Some providers send the usage without a list of choices.
    return value.usage ? ({ ...value, choices: [] } as unknown as ChatChunk) : undefined;
  }
  if (!Array.isArray(choices) || !choices.every(isChoice)) {
    throw failed(`${name} sent a piece of its answer that is no chunk.`);
  }
  return value as unknown as ChatChunk;
}

function isChoice(choice: unknown): boolean {
  if (!isObject(choice)) return false;
  choice.finish_reason ??= null;
  const { delta = {} } = choice;
  if (!isObject(delta)) return delta === null;
  const { content, tool_calls } = delta;
  return (
    (content === undefined || content === null || typeof content === 'string') &&
    (tool_calls === undefined ||
      tool_calls === null ||
      (Array.isArray(tool_calls) && tool_calls.every(isObject)))
  );
}
