import { randomUUID } from 'node:crypto';
import type { Message, StopReason } from '@anthropic-ai/sdk/resources/messages/messages';
import type { CompletionUsage } from '../../completions/completions.types.ts';

export const newMessageId = (): string => `msg_${randomUUID().replaceAll('-', '')}`;

const STOP_REASONS: Record<string, StopReason> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/**
 * Why a turn ended, in Anthropic's words.
 *
 * @param stoppedBy the text that ended it, which few providers name (`stop_reason` of vLLM)
 */
export function toStop(
  finishReason: string | null,
  callsTools: boolean,
  stoppedBy: unknown,
  sequences: readonly string[],
) {
  const finish_reason = finishReason ?? 'stop';
  if (finish_reason === 'stop' && typeof stoppedBy === 'string' && sequences.includes(stoppedBy))
    return { stop_reason: 'stop_sequence' as const, stop_sequence: stoppedBy };
  // Some providers end calls of tools with `stop`.
  const stop_reason =
    callsTools && finish_reason === 'stop' ? 'tool_use' : (STOP_REASONS[finish_reason] ?? 'end_turn');
  return { stop_reason, stop_sequence: null };
}

/** @param estimated tokens of the input, where the provider does not count */
export function toMessagesUsage(usage: CompletionUsage | null, estimated: number) {
  const cached = usage?.cached_tokens ?? 0;
  return {
    input_tokens: usage ? usage.prompt_tokens - cached : estimated,
    output_tokens: usage?.completion_tokens ?? 0,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens_details: null,
    server_tool_use: null,
  };
}

/** A message without content. */
export const emptyMessage = (model: string, estimated: number): Message => ({
  id: newMessageId(),
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
  diagnostics: null,
  usage: {
    ...toMessagesUsage(null, estimated),
    cache_creation: null,
    inference_geo: null,
    service_tier: null,
    speed: null,
  },
});
