import type { OpenAI } from 'openai';
import { AppError } from '../core/errors.ts';
import type { ChatChunk, ChatMessage } from '../providers/providers.types.ts';
import type { CompletionUsage } from './completions.types.ts';
import { calledBefore, RoundCalls, type StreamedCall } from './round.calls.ts';
import type { Offer } from './tool.offer.ts';

type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { reasoning_content?: unknown; reasoning?: unknown };

/** The longest answer, in characters. */
const MOST_WRITTEN = 16 * 1024 * 1024;

/** The most tokens of an answer that are believed. */
const MOST_COUNTED = 100_000_000;

/** Reasons after which calls may be incomplete. */
const CUT = ['length', 'content_filter'];

/**
 * One answer of the provider, chunk by chunk. Without tools of the server, all chunks pass as they are. Otherwise the client gets what
 * is not for the server.
 */
export class Round {
  /** The text, for the provider's next answer; only where tools are offered. */
  content = '';
  #reasoning = '';
  /** Length of all that the model wrote, in characters. */
  written = 0;
  finishReason: string | null = null;
  usage: CompletionUsage | null = null;
  readonly #calls: RoundCalls | undefined;
  readonly #isLast: boolean;
  #isRoleSent: boolean;

  /**
   * @param offer undefined where the server offers no tools
   * @param place the last round has no tools: calls in it are dropped
   */
  constructor(offer: Offer | undefined, place: { isFirst: boolean; isLast: boolean }) {
    this.#calls = offer && new RoundCalls(offer);
    this.#isRoleSent = !place.isFirst;
    this.#isLast = place.isLast;
  }

  /** Whether another round follows. */
  get goesOn(): boolean {
    return !this.#isLast && this.calls.length > 0;
  }

  /** Whether the client got a text, or calls of its tools. Known only where tools are offered. */
  get hasAnswer(): boolean {
    return this.content !== '' || this.#calls?.hasOwn === true;
  }

  /**
   * The calls of the server's tools. None where the model called tools of the caller as well: the server then runs none, since their
   * results could not be told to a caller that continues from its own calls.
   */
  get calls(): StreamedCall[] {
    const calls = this.#calls;
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
    const choice = chunk.choices?.[0];
    if (!choice) return !this.goesOn;
    const delta: Delta = choice.delta ?? {};
    this.written += lengthOf(delta.content) + lengthOf(delta.reasoning_content ?? delta.reasoning);
    if (this.written > MOST_WRITTEN) throw tooLong();
    if (choice.finish_reason) this.finishReason = choice.finish_reason;
    return !this.#calls || this.#filter(this.#calls, choice, delta);
  }

  #filter(calls: RoundCalls, choice: OpenAI.ChatCompletionChunk.Choice, delta: Delta): boolean {
    if (typeof delta.content === 'string') this.content += delta.content;
    if (typeof delta.reasoning_content === 'string') this.#reasoning += delta.reasoning_content;
    if (delta.tool_calls) {
      const rest = calls.take(delta.tool_calls);
      if (rest.length > 0) delta.tool_calls = rest;
      else delete delta.tool_calls;
    }
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

const lengthOf = (text: unknown): number => (typeof text === 'string' ? text.length : 0);

/** Whether the model has written something. */
const hasToken = (delta: Delta | undefined): boolean =>
  !!(delta?.content || delta?.reasoning_content || delta?.reasoning || delta?.refusal || delta?.tool_calls);

/** Numbers that a provider sends in another form count as none. */
const count = (value: unknown): number =>
  typeof value === 'number' && value >= 0 && value <= MOST_COUNTED ? Math.ceil(value) : 0;

function readUsage(usage: OpenAI.CompletionUsage): CompletionUsage {
  const prompt_tokens = count(usage.prompt_tokens);
  const completion_tokens = count(usage.completion_tokens);
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cached_tokens: Math.min(prompt_tokens, count(usage.prompt_tokens_details?.cached_tokens)),
  };
}
