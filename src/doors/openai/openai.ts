import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { cutPath, type Reach } from '../../core/access.ts';
import { AppError } from '../../core/errors.ts';
import type { Actor, Scope } from '../../core/scope.ts';
import { answerCall } from '../../core/trpc/admission.ts';
import { listUsableModels } from '../../models/listing/listing.service.ts';
import { buildHttpContext } from '../http/context.ts';
import { REST_PREFIX, signalOf } from '../rest/rest.ts';
import { type Door, jsonHandler } from './openai.call.ts';
import { answerChat } from './openai.chat.ts';
import { answerEmbeddings } from './openai.embeddings.ts';
import { toModel } from './openai.models.ts';
import { ChatBody, EmbeddingBody } from './openai.schema.ts';

/** Clients of OpenAI get `/v1` as their base address; those of comparable systems use the others. */
export const MODEL_PREFIXES = ['/v1', REST_PREFIX] as const;

/** A list of paths for an API key may have them with or without `/api`. */
export const reachOf = (path: string): Reach => [cutPath(`/api/${path}`), cutPath(`/v1/${path}`)];

/** OpenAI allows 2,048 texts, and 300,000 tokens in all of them. */
const EMBEDDING_BOUNDS = { depth: 8, values: 310_000, lists: 2_100 };

/** The routes that clients of OpenAI use. They are no procedures, because procedures do not take large bodies and do not stream. */
export async function mountOpenAi(app: FastifyInstance, door: Door): Promise<void> {
  const chat = jsonHandler(door, { schema: ChatBody, reach: reachOf('chat/completions') }, (exchange) =>
    answerChat(door.parts, exchange),
  );
  const embeddings = jsonHandler(
    door,
    { schema: EmbeddingBody, reach: reachOf('embeddings'), bounds: EMBEDDING_BOUNDS },
    answerEmbeddings,
  );
  await mountJson(app, { 'chat/completions': chat, embeddings });
  app.get('/v1/models', (request, reply) =>
    answerModels(door, request, reply, (models) => {
      const data = models.map(toModel);
      // The members after `data` are for clients of Anthropic, which ask at the same address.
      return {
        object: 'list',
        data,
        has_more: false,
        first_id: data[0]?.id ?? null,
        last_id: data.at(-1)?.id ?? null,
      };
    }),
  );
  // Ids have slashes, which not every client escapes.
  app.get<{ Params: { '*': string } }>('/v1/models/*', (request, reply) =>
    answerModels(door, request, reply, (models) => {
      const model = models.find(({ id }) => id === request.params['*']);
      if (!model) throw new AppError('model_not_found');
      return toModel(model);
    }),
  );
}

/** Mounts handlers that read their bodies themselves, after they have admitted the caller. */
export async function mountJson(
  app: FastifyInstance,
  handlers: Record<string, (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>>,
): Promise<void> {
  await app.register(async (inner) => {
    inner.removeAllContentTypeParsers();
    inner.addContentTypeParser('application/json', (_request, body, done) => done(null, body));
    for (const [path, handler] of Object.entries(handlers))
      for (const prefix of MODEL_PREFIXES)
        inner.post(`${prefix}/${path}`, { config: { streamsBody: true } }, handler as RouteHandlerMethod);
  });
}

function answerModels(
  { parts }: Door,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (models: Awaited<ReturnType<typeof listUsableModels>>) => object,
): Promise<object> {
  const call = {
    level: 'member',
    type: 'query',
    signal: signalOf(reply),
    reach: () => reachOf('models'),
  } as const;
  return answerCall<Actor, object>(buildHttpContext(parts, request, reply), call, async (scope: Scope) =>
    work(await listUsableModels(scope)),
  );
}
