import { randomUUID } from 'node:crypto';
import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages/messages';
import type { CompletionEvent } from '../../completions/completions.types.ts';
import type { ChatChunk } from '../../providers/providers.types.ts';
import { emptyMessage, toMessagesUsage, toStop } from './messages.answer.ts';

type EndEvent = Extract<CompletionEvent, { type: 'end' }>;
type Choice = ChatChunk['choices'][number];
type ToolDelta = NonNullable<Choice['delta']['tool_calls']>[number];

export interface MessageOptions {
  model: string;
  /** An estimate, for the first event: the provider counts at the end. */
  inputTokens: number;
  stopSequences: readonly string[];
  /** Whether the client takes blocks of reasoning. */
  hasThinking: boolean;
}

const toEvent = (event: RawMessageStreamEvent): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** The events that keep a stream open; the official clients ignore them. */
export const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/** The reasoning of a chunk, under the names that providers use. */
export function reasoningOf(delta: object): string {
  const { reasoning_content, reasoning } = delta as Record<string, unknown>;
  const text = reasoning_content ?? reasoning;
  return typeof text === 'string' ? text : '';
}

/**
 * Encodes the events of a turn as Anthropic's stream: a message of blocks, one open at a time. One encoder for each turn. Empty for
 * events that the client does not get.
 */
export class MessageEncoder {
  readonly #options: MessageOptions;
  #hasBegun = false;
  /** The number of the open block, or of the last one. */
  #index = -1;
  #open: 'text' | 'thinking' | 'tool' | null = null;
  /** The call whose arguments are sent as they come. */
  #liveCall: number | undefined;
  /** What comes while that call is open: other calls, by their index, and text. */
  readonly #laterCalls = new Map<number, { id: string; name: string; arguments: string }>();
  #laterText = '';
  #stoppedBy: unknown;

  constructor(options: MessageOptions) {
    this.#options = options;
  }

  encode(event: CompletionEvent): string {
    switch (event.type) {
      case 'chunk': {
        const choice = event.chunk.choices?.find(({ index }) => (index ?? 0) === 0);
        return this.#begin() + (choice ? this.#encodeChoice(choice) : '');
      }
      case 'tool':
        // The next round has a block of its own.
        return `${this.#begin() + this.#close()}event: ping\ndata: ${JSON.stringify({
          type: 'ping',
          parley: { tool_calls: [event.call] },
        })}\n\n`;
      case 'end':
        return this.#begin() + this.#encodeEnd(event);
    }
  }

  #begin(): string {
    if (this.#hasBegun) return '';
    this.#hasBegun = true;
    const { model, inputTokens } = this.#options;
    return toEvent({ type: 'message_start', message: emptyMessage(model, inputTokens) });
  }

  #encodeChoice(choice: Choice): string {
    const { finish_reason } = choice;
    const delta: Choice['delta'] = choice.delta ?? {};
    if (finish_reason) this.#stoppedBy = (choice as { stop_reason?: unknown }).stop_reason;
    let events = '';
    const reasoning = this.#options.hasThinking ? reasoningOf(delta) : '';
    if (reasoning !== '' && this.#open !== 'tool') events += this.#thinking(reasoning);
    if (typeof delta.content === 'string' && delta.content !== '') events += this.#text(delta.content);
    for (const call of delta.tool_calls ?? []) events += this.#call(call);
    return events;
  }

  #thinking(thinking: string): string {
    return (
      this.#in('thinking', { type: 'thinking', thinking: '', signature: '' }) +
      this.#delta({ type: 'thinking_delta', thinking })
    );
  }

  #text(text: string): string {
    if (this.#open === 'tool') {
      this.#laterText += text;
      return '';
    }
    return (
      this.#in('text', { type: 'text', text: '', citations: null }) +
      this.#delta({ type: 'text_delta', text })
    );
  }

  #call({ index, id, ...call }: ToolDelta): string {
    const { name = '', arguments: args = '' } = call.function ?? {};
    if (this.#liveCall === undefined) {
      this.#liveCall = index;
      return this.#startCall(id, name) + this.#arguments(args);
    }
    if (this.#liveCall === index) return this.#arguments(args);
    const later = this.#laterCalls.get(index);
    if (later) later.arguments += args;
    else this.#laterCalls.set(index, { id: id ?? '', name, arguments: args });
    return '';
  }

  #startCall(id: string | undefined, name: string): string {
    const block = {
      type: 'tool_use' as const,
      id: id || `toolu_${randomUUID().replaceAll('-', '')}`,
      name,
      input: {},
      caller: { type: 'direct' as const },
    };
    return this.#close() + this.#in('tool', block);
  }

  #arguments(partial_json: string): string {
    return partial_json === '' ? '' : this.#delta({ type: 'input_json_delta', partial_json });
  }

  /** Opens a block of this kind, unless one is open. */
  #in(kind: 'text' | 'thinking' | 'tool', content_block: BlockStart['content_block']): string {
    if (this.#open === kind) return '';
    const closed = this.#close();
    this.#open = kind;
    this.#index += 1;
    return closed + toEvent({ type: 'content_block_start', index: this.#index, content_block });
  }

  #delta(delta: BlockDelta['delta']): string {
    return toEvent({ type: 'content_block_delta', index: this.#index, delta });
  }

  #close(): string {
    if (this.#open === null) return '';
    this.#open = null;
    return toEvent({ type: 'content_block_stop', index: this.#index });
  }

  #encodeEnd(event: EndEvent): string {
    let events = this.#close();
    for (const { id, name, arguments: args } of this.#laterCalls.values())
      events += this.#startCall(id, name) + this.#arguments(args) + this.#close();
    if (this.#laterText !== '') events += this.#text(this.#laterText) + this.#close();
    const { inputTokens, stopSequences } = this.#options;
    const stop = toStop(event.finish_reason, this.#liveCall !== undefined, this.#stoppedBy, stopSequences);
    events += toEvent({
      type: 'message_delta',
      delta: { ...stop, stop_details: null, container: null },
      usage: toMessagesUsage(event.usage, inputTokens),
    });
    return events + toEvent({ type: 'message_stop' });
  }
}

type BlockStart = Extract<RawMessageStreamEvent, { type: 'content_block_start' }>;
type BlockDelta = Extract<RawMessageStreamEvent, { type: 'content_block_delta' }>;
