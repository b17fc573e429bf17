import type { OpenAI } from 'openai';
import { AppError } from '../core/errors.ts';
import type { ChatChunk, ChatMessage } from '../providers/providers.types.ts';
import type { CompletionUsage } from './completions.types.ts';
import { calledBefore, RoundCalls, type StreamedCall, type Taken } from './round.calls.ts';
import { countOf, lengthOf } from './tokens.ts';
import type { Offer } from './tool.offer.ts';

type Choice = OpenAI.ChatCompletionChunk.Choice;
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: unknown; reasoning?: unknown };

/** The longest answer, in characters. */
const MOST_WRITTEN = 16 * 1024 * 1024;

/** Reasons after which calls may be incomplete. */
const CUT = ['length', 'content_filter'];

/**
 * One answer of the provider, chunk by chunk. Without tools of the server, all chunks pass as they are, but each call of a tool has an id
 * and an index of its own. Otherwise the client gets what is not for the server, of the first choice.
 */
export class Round {
  /** The text, for the provider's next answer; only where tools are offered. */
  content = '';
  #reasoning = '';
  /** Length of all that the model wrote, in characters. */
  written = 0;
  finishReason: string | null = null;
  usage: CompletionUsage | null = null;
  readonly #offer: Pick<Offer, 'served' | 'own'>;
  /** By choice. */
  readonly #calls = new Map<number, RoundCalls>();
  readonly #taken: Taken = { calls: 0, characters: 0 };
  readonly #isLast: boolean;
  #isRoleSent: boolean;

  /**
   * @param place the last round has no tools: calls in it are dropped
   */
  constructor(offer: Pick<Offer, 'served' | 'own'>, place: { isFirst: boolean; isLast: boolean }) {
    this.#offer = offer;
    this.#isRoleSent = !place.isFirst;
    this.#isLast = place.isLast;
  }

  /** Whether another round follows. */
  get goesOn(): boolean {
    return !this.#isLast && this.calls.length > 0;
  }

  /** Whether the client got a text, or calls of its tools. Known only where tools are offered. */
  get hasAnswer(): boolean {
    return this.content !== '' || this.#calls.get(0)?.hasOwn === true;
  }

  /**
   * The calls of the server's tools. None where the model called tools of the caller as well: the server then runs none, since their
   * results could not be told to a caller that continues from its own calls.
   */
  get calls(): StreamedCall[] {
    const calls = this.#calls.get(0);
    if (!calls || calls.hasOwn || CUT.includes(this.finishReason ?? '')) return [];
    return calls.served;
  }

  /** The model's message, for its next answer. */
  get message(): ChatMessage {
    const reasoning = this.#reasoning === '' ? {} : { reasoning_content: this.#reasoning };
    const tool_calls = this.calls.map(calledBefore);
    return { role: 'assistant', content: this.content || null, tool_calls, ...reasoning };
  }

  /** Takes a chunk, from which it removes what is not for the client. False: nothing is left. */
  take(chunk: ChatChunk): boolean {
    if (chunk.usage) this.usage = readUsage(chunk.usage);
    const { choices } = chunk;
    const [first] = choices ?? [];
    if (!first) return !this.goesOn;
    if (choices.length === 1) return this.#takeChoice(first);
    chunk.choices = choices.filter((choice) => choice && this.#takeChoice(choice));
    return chunk.choices.length > 0;
  }

  #takeChoice(choice: Choice): boolean {
    // Some providers send none.
    choice.index ??= 0;
    const delta: Delta = choice.delta ?? {};
    this.written += lengthOf(delta.content) + lengthOf(delta.reasoning_content ?? delta.reasoning);
    if (this.written > MOST_WRITTEN) throw tooLong();
    const isFirst = choice.index === 0;
    if (isFirst && choice.finish_reason) this.finishReason = choice.finish_reason;
    if (delta.tool_calls) this.#takeCalls(choice.index, delta);
    return this.#offer.served.size === 0 || (isFirst && this.#filter(choice, delta));
  }

  #takeCalls(index: number, delta: Delta): void {
    const calls = this.#calls.get(index) ?? new RoundCalls(this.#offer, this.#taken);
    this.#calls.set(index, calls);
    const rest = calls.take([delta.tool_calls ?? []].flat());
    if (rest.length > 0) delta.tool_calls = rest;
    else delete delta.tool_calls;
  }

  #filter(choice: Choice, delta: Delta): boolean {
    if (typeof delta.content === 'string') this.content += delta.content;
    if (typeof delta.reasoning_content === 'string') this.#reasoning += delta.reasoning_content;
    if (choice.finish_reason && this.calls.length > 0) {
      choice.finish_reason = this.#isLast ? 'stop' : null;
      this.finishReason = choice.finish_reason;
    }
    const isNeeded = !!choice.finish_reason || !this.#isRoleSent || hasToken(delta);
    if (delta.role) this.#isRoleSent = true;
    return isNeeded;
  }
}

const tooLong = () =>
  new AppError('provider_failed', { detail: 'The answer of the model was longer than is accepted.' });

/** Whether the model has written something. */
const hasToken = (delta: Delta | undefined): boolean =>
  !!(delta?.content || delta?.reasoning_content || delta?.reasoning || delta?.refusal || delta?.tool_calls);

function readUsage(usage: OpenAI.CompletionUsage): CompletionUsage {
  const prompt_tokens = countOf(usage.prompt_tokens) ?? 0;
  const completion_tokens = countOf(usage.completion_tokens) ?? 0;
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cached_tokens: Math.min(prompt_tokens, countOf(usage.prompt_tokens_details?.cached_tokens) ?? 0),
  };
}
