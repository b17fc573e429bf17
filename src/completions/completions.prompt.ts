import { isObject } from '../core/json/json.ts';
import { OTHER_MODELS, SERVER_ONLY } from '../models/models.params.ts';
import type { ResolvedModel } from '../models/models.resolve.ts';
import type { ChatMessage } from '../providers/providers.types.ts';

/** Two names of one limit, of which a provider takes one or the other. */
const LIMITS_OF_ANSWER = ['max_completion_tokens', 'max_tokens'];

/** The members of a request to the provider, but its messages: those of the model, then those of the caller. */
export function mergeParams(
  { params: ofModel }: Pick<ResolvedModel, 'params'>,
  { custom_params: custom, ...ofCaller }: Record<string, unknown> = {},
): Record<string, unknown> {
  const asked = { ...ofCaller, ...(isObject(custom) && custom) };
  const isLimited = LIMITS_OF_ANSWER.some((name) => asked[name] !== undefined);
  const merged = { ...without(ofModel, isLimited ? LIMITS_OF_ANSWER : []), ...asked };
  const { stream_options: options, ...rest } = without(merged, [...SERVER_ONLY, ...OTHER_MODELS]);
  return { ...rest, stream_options: { ...(isObject(options) && options), include_usage: true } };
}

export const withoutOtherModels = <T extends object>(params: T): T => without(params, OTHER_MODELS) as T;

const without = (members: object, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

/** The messages with a system prompt in front, before the text of a system message that is already there. */
export function withSystem(messages: readonly ChatMessage[], system: string | null): ChatMessage[] {
  const [first, ...rest] = messages;
  if (!system) return [...messages];
  if (first?.role !== 'system' && first?.role !== 'developer')
    return [{ role: 'system', content: system }, ...messages];
  const { content } = first;
  if (!content) return [{ ...first, content: system }, ...rest];
  const merged =
    typeof content === 'string'
      ? `${system}\n\n${content}`
      : [{ type: 'text' as const, text: system }, ...content];
  return [{ ...first, content: merged }, ...rest];
}
