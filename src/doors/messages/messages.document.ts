import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { z } from 'zod';
import { turnFailures } from '../openai/openai.document.ts';
import { CountBody, MessagesBody } from './messages.schema.ts';

const Answer = z
  .looseObject({
    id: z.string(),
    type: z.literal('message'),
    role: z.literal('assistant'),
    model: z.string(),
    content: z.array(z.looseObject({ type: z.string() })),
    stop_reason: z.string().nullable(),
    usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
  })
  .meta({ id: 'MessagesAnswer', description: 'An answer in the shape of Anthropic' });

const answer = {
  description: 'Successful response',
  content: { 'application/json': { schema: Answer }, 'text/event-stream': { schema: z.string() } },
};

const messages = (operationId: string, summary: string) => ({
  post: {
    operationId,
    summary,
    description:
      'Also under `/v1`. Takes and answers messages in the shape of Anthropic over every model; failures have that shape, too. Texts, images, documents, calls and results of tools, system prompts, stop sequences and schemas of the answer are converted; members that other providers do not have are dropped. Reasoning of the model is answered as `thinking` when the request has `thinking`. With `stream`, the answer is server-sent events. The number of input tokens in the first event is an estimate; the last has the count of the provider.',
    tags: ['completions'],
    'x-access': 'model.read',
    requestBody: { required: true, content: { 'application/json': { schema: MessagesBody } } },
    responses: { 200: answer, ...turnFailures },
  },
});

const count = (operationId: string, summary: string) => ({
  post: {
    operationId,
    summary,
    description:
      'Also under `/v1`. An estimate by the characters of the request, a token for four, because providers have no common tokenizer. Images and documents count as 1,500 each.',
    tags: ['completions'],
    'x-access': 'model.read',
    requestBody: { required: true, content: { 'application/json': { schema: CountBody } } },
    responses: {
      200: {
        description: 'Successful response',
        content: { 'application/json': { schema: z.object({ input_tokens: z.int() }) } },
      },
      ...turnFailures,
    },
  },
});

/** The plain routes of `messages.ts`, for the document. */
export const MESSAGES_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/messages': messages('messagesDoor.create', 'Answer messages, in the shape of Anthropic'),
  '/messages/count_tokens': count('messagesDoor.countTokens', 'Estimate the tokens of messages'),
  '/message': messages(
    'messagesDoor.createAt',
    'The same as `POST /messages`, at the path of comparable systems',
  ),
  '/message/count_tokens': count('messagesDoor.countTokensAt', 'The same as `POST /messages/count_tokens`'),
};
