import { z } from 'zod';
import { name, toolId } from '../../core/wire.ts';

/**
 * Only members that the server reads are described: all others pass through to the provider. Null counts as not sent, as in OpenAI's own
 * documents.
 */

const Part = z.looseObject({ type: z.string() });

const Message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(Part)]).nullish(),
  tool_calls: z.array(z.looseObject({})).nullish(),
});

/** The id of a model. */
export const modelId = () => name().meta({ examples: ['smollm2-135m'] });

/** Tools of the server, which the server runs itself. */
export const serverTools = () =>
  z.array(toolId()).max(100).nullish().meta({
    description: 'Tools of the server that the model may use; the server runs their calls as the caller',
  });

export const ChatBody = z
  .looseObject({
    model: modelId(),
    messages: z
      .array(Message)
      .min(1)
      .meta({ examples: [[{ role: 'user', content: 'Hello' }]] }),
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    tools: z.array(z.looseObject({ type: z.string() })).nullish(),
    tool_ids: serverTools(),
  })
  .meta({ id: 'ChatRequest', description: 'A request in the shape of OpenAI' });
export type ChatBody = z.output<typeof ChatBody>;

const isTokens = (value: unknown) =>
  Array.isArray(value) && value.length > 0 && value.every(Number.isInteger);
const isText = (value: unknown) => typeof value === 'string' && value !== '';

/** A text, or its tokens, or several of one of these. Not a union: a long list would get an issue for each element. */
const isEmbeddable = (value: unknown) =>
  isText(value) ||
  isTokens(value) ||
  (Array.isArray(value) && value.length > 0 && (value.every(isText) || value.every(isTokens)));

export const EmbeddingBody = z.looseObject({
  model: modelId(),
  input: z
    .custom<string | string[] | number[] | number[][]>(
      isEmbeddable,
      'must be a text, or tokens, or a list of these',
    )
    .meta({
      type: ['string', 'array'],
      description: 'A text, or its tokens, or several of one of these',
      examples: ['Hello'],
    }),
  encoding_format: z.enum(['float', 'base64']).nullish(),
});
export type EmbeddingBody = z.output<typeof EmbeddingBody>;
