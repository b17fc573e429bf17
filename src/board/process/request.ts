import { z } from 'zod';
import { MODEL_ID } from '../wire.ts';

/** The model often repeats itself without an end. */
const MAX_TOKENS = 512;
/** As its authors advise. */
const SAMPLING = { temperature: 0.2, topP: 0.9 };

const textPart = z.object({ type: z.literal('text', 'This model reads text only.'), text: z.string() });
const content = z
  .union([z.string(), z.array(textPart).transform((parts) => parts.map(({ text }) => text).join('\n'))])
  .nullish()
  .transform((text) => text ?? '');
const penalty = z.number().min(-2).max(2).nullish();
const tokens = z.int().positive().nullish();

/** A call of `POST /v1/chat/completions`. What would change the answer and cannot be done is refused; other members are ignored. */
export const ChatRequest = z.object({
  model: z.literal(MODEL_ID),
  messages: z
    .array(z.object({ role: z.enum(['system', 'developer', 'user', 'assistant']), content }))
    .min(1)
    .transform((messages) =>
      messages.map(({ role, content }) => ({
        role: role === 'developer' ? ('system' as const) : role,
        content,
      })),
    ),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: tokens,
  max_completion_tokens: tokens,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  seed: z.int().nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).max(16)]).nullish(),
  frequency_penalty: penalty,
  presence_penalty: penalty,
  n: z.literal(1, 'This model gives one answer.').nullish(),
  tools: z.array(z.unknown()).max(0, 'This model calls no tools.').nullish(),
  response_format: z.object({ type: z.literal('text', 'This model writes free text only.') }).nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;

/** The options of a generation, where the request says nothing. */
export function samplingOf(request: ChatRequest) {
  const { stop } = request;
  return {
    maxTokens: request.max_completion_tokens ?? request.max_tokens ?? MAX_TOKENS,
    temperature: request.temperature ?? SAMPLING.temperature,
    topP: request.top_p ?? SAMPLING.topP,
    seed: request.seed ?? undefined,
    stop: typeof stop === 'string' ? [stop] : (stop ?? []),
    frequencyPenalty: request.frequency_penalty ?? 0,
    presencePenalty: request.presence_penalty ?? 0,
  };
}
