import { isObject } from '../core/json/json.ts';
import type { ResolvedModel } from '../models/models.resolve.ts';
import type { ChatMessage } from '../providers/providers.types.ts';

/** Parameters for this server, which providers do not know. */
const SERVER_ONLY = [
  'system',
  'stream_response',
  'stream_delta_chunk_size',
  'function_calling',
  'reasoning_tags',
  'compact_token_threshold',
  'tool_approval_mode',
  'note_id',
  'model_controls',
];

/**
 * Members by which gateways (OpenRouter, LiteLLM) answer with another model, whose use nothing has checked. An administrator gives them
 * to a connection.
 */
const OTHER_MODELS = ['models', 'fallbacks'];

/** The members of a request to the provider, but its messages: those of the model, then those of the caller. */
export function mergeParams(
  { params: ofModel }: Pick<ResolvedModel, 'params'>,
  ofCaller: Record<string, unknown> = {},
): Record<string, unknown> {
  const { custom_params: custom, ...merged } = { ...ofModel, ...ofCaller };
  if (isObject(custom)) Object.assign(merged, custom);
  for (const name of [...SERVER_ONLY, ...OTHER_MODELS]) delete merged[name];
  const options = isObject(merged.stream_options) ? merged.stream_options : {};
  return { ...merged, stream_options: { ...options, include_usage: true } };
}

/** The messages with a system prompt in front, before the text of a system message that is already there. */
export function withSystem(messages: readonly ChatMessage[], system: string | null): ChatMessage[] {
  const [first, ...rest] = messages;
  if (!system) return [...messages];
  if (first?.role !== 'system' && first?.role !== 'developer')
    return [{ role: 'system', content: system }, ...messages];
  const { content } = first;
  const merged =
    typeof content === 'string'
      ? `${system}\n\n${content}`
      : [{ type: 'text' as const, text: system }, ...content];
  return [{ ...first, content: merged }, ...rest];
}
