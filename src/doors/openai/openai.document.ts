import type { GenerateOpenApiDocumentOptions } from 'trpc-to-openapi';
import { z } from 'zod';
import { failures } from '../files/files.document.ts';
import { ChatBody, EmbeddingBody } from './openai.schema.ts';

/** The failures of a call of a model. */
export const turnFailures = failures({
  400: 'BadRequest',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  413: 'TooLarge',
  415: 'UnsupportedMediaType',
  500: 'Internal',
  502: 'BadGateway',
  504: 'Timeout',
  507: 'InsufficientStorage',
});

const tokens = z.int();
const Usage = z.looseObject({ prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens });

const ChatCompletion = z.looseObject({
  id: z.string(),
  object: z.literal('chat.completion'),
  created: z.int(),
  model: z.string(),
  choices: z.array(
    z.looseObject({
      index: z.int(),
      message: z.looseObject({ role: z.literal('assistant'), content: z.string().nullable() }),
      finish_reason: z.string(),
    }),
  ),
  usage: Usage.optional(),
  parley: z
    .looseObject({ tool_calls: z.array(z.looseObject({})).optional() })
    .optional()
    .meta({ description: 'The calls of tools that the server ran, with their results' }),
});

const Embeddings = z.looseObject({
  object: z.literal('list'),
  model: z.string(),
  data: z.array(
    z.looseObject({
      object: z.literal('embedding'),
      index: z.int(),
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
  usage: z.looseObject({ prompt_tokens: tokens, total_tokens: tokens }),
});

/** The plain routes of `openai.ts`, for the document. */
export const OPENAI_PATHS: NonNullable<GenerateOpenApiDocumentOptions['paths']> = {
  '/chat/completions': {
    post: {
      operationId: 'openai.chat',
      summary: 'Answer a chat, in the shape of OpenAI',
      description:
        'Also under `/v1`, where failures have the shape of OpenAI. Members that are not listed pass through to the provider. With `stream`, the answer is server-sent events: chunks, then `[DONE]`. The usage is always in the answer: in a stream with the last choice, or with `stream_options.include_usage` in a chunk of its own. With `tool_ids`, or where the record of the model names tools and the request has no `tools`, the server runs the calls of these tools itself, as the caller: chunks tell of them in `parley.tool_calls`. A failure after the first chunk is an event with `error`. 429 answers a caller beyond a limit.',
      tags: ['completions'],
      'x-access': 'model.read',
      requestBody: { required: true, content: { 'application/json': { schema: ChatBody } } },
      responses: {
        200: {
          description: 'Successful response',
          content: {
            'application/json': { schema: ChatCompletion },
            'text/event-stream': { schema: z.string() },
          },
        },
        ...turnFailures,
      },
    },
  },
  '/embeddings': {
    post: {
      operationId: 'openai.embeddings',
      summary: 'Turn texts into vectors, in the shape of OpenAI',
      description:
        'Also under `/v1`, where failures have the shape of OpenAI. Members that are not listed pass through to the provider.',
      tags: ['completions'],
      'x-access': 'model.read',
      requestBody: { required: true, content: { 'application/json': { schema: EmbeddingBody } } },
      responses: {
        200: { description: 'Successful response', content: { 'application/json': { schema: Embeddings } } },
        ...turnFailures,
      },
    },
  },
};
