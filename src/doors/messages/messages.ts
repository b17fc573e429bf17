import type { FastifyInstance } from 'fastify';
import { complete } from '../../completions/completions.service.ts';
import { openEventStream } from '../http/sse.ts';
import { type Door, type Exchange, jsonHandler } from '../openai/openai.call.ts';
import { mountJson, reachOf } from '../openai/openai.ts';
import { sendTurn } from '../openai/openai.turn.ts';
import { collectCompletion } from '../openai/openai.whole.ts';
import { toMessagesError } from './messages.errors.ts';
import { toChatMessages, toParams } from './messages.request.ts';
import { CountBody, MessagesBody } from './messages.schema.ts';
import { MessageEncoder, type MessageOptions, PING } from './messages.stream.ts';
import { estimateTokens } from './messages.tokens.ts';
import { toMessage } from './messages.whole.ts';

/** Anthropic's Messages, over every model of the server. Its clients send their key as `x-api-key`. */
export async function mountMessages(app: FastifyInstance, door: Door): Promise<void> {
  const messages = jsonHandler(
    door,
    { schema: MessagesBody, reach: [...reachOf('messages'), ...reachOf('message')] },
    (exchange) => answerMessages(door, exchange),
  );
  const count = jsonHandler(
    door,
    { schema: CountBody, reach: [...reachOf('messages/count_tokens'), ...reachOf('message/count_tokens')] },
    countTokens,
  );
  await mountJson(app, {
    messages,
    'messages/count_tokens': count,
    // The name in comparable systems.
    message: messages,
    'message/count_tokens': count,
  });
}

async function answerMessages({ parts }: Door, exchange: Exchange<MessagesBody>): Promise<unknown> {
  const { scope, body, request, reply, resolveModel, signal } = exchange;
  reply.header('request-id', request.id);
  const model = await resolveModel(body.model);
  const messages = toChatMessages(body);
  const options: MessageOptions = {
    model: model.id,
    inputTokens: estimateTokens(messages, body.tools),
    stopSequences: body.stop_sequences ?? [],
    hasThinking: body.thinking ? body.thinking.type !== 'disabled' : false,
  };
  const turn = complete(scope, {
    model,
    messages,
    params: toParams(body),
    ...(body.tool_ids && { toolIds: body.tool_ids }),
    context: { kind: 'api' },
    signal,
  });
  if (!body.stream) return toMessage(await collectCompletion(model.id, turn), options);
  const encoder = new MessageEncoder(options);
  await sendTurn({ parts, request, reply }, turn, openEventStream(reply, PING), {
    event: (event) => encoder.encode(event),
    failure: (failure) => `event: error\ndata: ${JSON.stringify(toMessagesError(failure, request.id))}\n\n`,
  });
  return undefined;
}

async function countTokens({ body, resolveModel }: Exchange<CountBody>): Promise<unknown> {
  await resolveModel(body.model);
  return { input_tokens: estimateTokens(toChatMessages(body), body.tools) };
}
