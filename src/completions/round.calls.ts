import type { OpenAI } from 'openai';
import { AppError } from '../core/errors.ts';
import { isObject } from '../core/json/json.ts';
import type { Offer } from './tool.offer.ts';

type CallDelta = OpenAI.ChatCompletionChunk.Choice.Delta.ToolCall;

/** All arguments of one answer together, in characters. */
const MOST_ARGUMENTS = 1024 * 1024;
const MOST_CALLS = 128;

/** What the calls of all choices of one answer take together. */
export interface Taken {
  calls: number;
  characters: number;
}

/** A call of a tool, as far as it has arrived. */
export interface StreamedCall {
  id: string;
  name: string;
  arguments: string;
  /** Members that only this provider knows, such as signatures: it wants them back. */
  extra: Record<string, unknown>;
  /** Its index for the client; undefined until the client has got a part of it. */
  sentAs: number | undefined;
}

/**
 * Puts the calls of one choice together from its deltas, and tells those of the server from those of the caller. Where the server offers no
 * tools, all calls are the caller's.
 */
export class RoundCalls {
  readonly #offer: Pick<Offer, 'served' | 'own'>;
  readonly #all: StreamedCall[] = [];
  readonly #byIndex = new Map<number, StreamedCall>();
  readonly #taken: Taken;
  #sent = 0;

  constructor(offer: Pick<Offer, 'served' | 'own'>, taken: Taken) {
    this.#offer = offer;
    this.#taken = taken;
  }

  /** Calls that the server answers: of its tools, and of tools that do not exist. */
  get served(): StreamedCall[] {
    return this.#all.filter((call) => !this.#isOwn(call));
  }

  get hasOwn(): boolean {
    return this.#all.some((call) => this.#isOwn(call));
  }

  /**
   * Takes the calls of a delta, and returns those parts of them that the client gets: of its own tools, each call with an index of its
   * own.
   *
   * @throws provider_failed for more than a model could mean
   */
  take(deltas: readonly CallDelta[]): CallDelta[] {
    const forClient: CallDelta[] = [];
    for (const delta of deltas) {
      if (!isObject(delta)) continue;
      const call = this.#callOf(delta);
      const part = this.#add(call, delta);
      if (!this.#isOwn(call)) continue;
      if (call.sentAs !== undefined) forClient.push({ ...delta, index: call.sentAs });
      else {
        call.sentAs = this.#sent++;
        const begin = this.#offer.served.size > 0 ? { ...part, ...wholeOf(call) } : { ...delta, id: call.id };
        forClient.push({ ...begin, index: call.sentAs });
      }
    }
    return forClient;
  }

  /** A client with tools of its own also gets calls of tools that do not exist, as from the provider itself. */
  #isOwn({ name }: StreamedCall): boolean {
    const { served, own } = this.#offer;
    return served.size === 0 || (name !== '' && own.size > 0 && !served.has(name));
  }

  /** Some providers send no index, or the same one for several calls. */
  #callOf({ index, id, function: named }: CallDelta): StreamedCall {
    const last = this.#all.at(-1);
    const known =
      typeof index === 'number' ? this.#byIndex.get(index) : id && last?.id !== id ? undefined : last;
    const isBare = typeof index !== 'number' && !id;
    const isAnother = known && named?.name && (id ? id !== known.id : isBare && known.name !== '');
    if (known && !isAnother) return known;
    this.#taken.calls += 1;
    if (this.#taken.calls > MOST_CALLS) throw tooMuch(`more than ${MOST_CALLS} calls of tools`);
    const call = {
      id: id || `call_${this.#all.length}`,
      name: '',
      arguments: '',
      extra: {},
      sentAs: undefined,
    };
    this.#all.push(call);
    if (typeof index === 'number') this.#byIndex.set(index, call);
    return call;
  }

  #add(call: StreamedCall, { index: _, id: __, type: ___, function: named, ...extra }: CallDelta) {
    Object.assign(call.extra, extra);
    if (named?.name && call.name === '') call.name = named.name;
    const written: unknown = named?.arguments ?? '';
    const text = typeof written === 'string' ? written : JSON.stringify(written);
    // Clients join texts.
    if (isObject(named) && text !== written) named.arguments = text;
    this.#taken.characters += text.length;
    if (this.#taken.characters > MOST_ARGUMENTS) throw tooMuch('arguments of tools that are too long');
    call.arguments += text;
    return extra;
  }
}

const wholeOf = ({ id, name, arguments: text }: StreamedCall) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: text },
});

/** The call as a member of the assistant's message, for the provider's next answer. Some providers refuse arguments that are no JSON. */
export const calledBefore = (call: StreamedCall): OpenAI.ChatCompletionMessageFunctionToolCall => ({
  ...call.extra,
  ...wholeOf({ ...call, arguments: readArguments(call.arguments) ? call.arguments : '{}' }),
});

/** Arguments as the model wrote them; undefined when they are no JSON object. Functions without parameters often get none. */
export function readArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const tooMuch = (what: string) =>
  new AppError('provider_failed', { detail: `The provider of the model sent ${what}.` });
