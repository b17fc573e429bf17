import type { ContentBlock, Message } from '@anthropic-ai/sdk/resources/messages/messages';
import { isObject } from '../../core/json/json.ts';
import type { Completion } from '../openai/openai.whole.ts';
import { emptyMessage, toMessagesUsage, toStop } from './messages.answer.ts';
import { type MessageOptions, reasoningOf } from './messages.stream.ts';

/** A whole answer in Anthropic's shape. */
export function toMessage(completion: Completion, options: MessageOptions): Message {
  const { model, inputTokens, stopSequences, hasThinking } = options;
  const { choices, usage, parley } = completion;
  const { message = {}, finish_reason = 'stop', stop_reason } = choices[0] ?? {};
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(toToolUse) : [];
  const thinking = hasThinking ? reasoningOf(message) : '';
  const { content } = message;
  const empty = emptyMessage(model, inputTokens);
  const counted = usage && { ...usage, cached_tokens: usage.prompt_tokens_details.cached_tokens };
  return {
    ...empty,
    content: [
      ...(thinking === '' ? [] : [{ type: 'thinking' as const, thinking, signature: '' }]),
      ...(typeof content === 'string' && content !== ''
        ? [{ type: 'text' as const, text: content, citations: null }]
        : []),
      ...calls,
    ],
    ...toStop(finish_reason, calls.length > 0, stop_reason, stopSequences),
    usage: { ...empty.usage, ...toMessagesUsage(counted ?? null, inputTokens) },
    ...(parley && { parley }),
  };
}

function toToolUse({ id = '', ...call }: ToolCall): ContentBlock {
  const { name = '', arguments: args = '' } = call.function ?? {};
  return { type: 'tool_use', id, name, input: parseInput(args), caller: { type: 'direct' } };
}

/** As a provider sent it. */
interface ToolCall {
  id?: string;
  function?: { name?: string; arguments?: string };
}

/** Arguments are an object. A model may write something else, which the client gets as text. */
function parseInput(args: string): object {
  if (args.trim() === '') return {};
  try {
    const input: unknown = JSON.parse(args);
    return isObject(input) ? input : { input };
  } catch {
    return { input: args };
  }
}
