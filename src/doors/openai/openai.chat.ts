import { complete } from '../../completions/completions.service.ts';
import type { CompletionRequest } from '../../completions/completions.types.ts';
import type { Parts } from '../../core/scope.ts';
import { openEventStream } from '../http/sse.ts';
import type { Exchange } from './openai.call.ts';
import { toOpenAiError } from './openai.errors.ts';
import type { ChatBody } from './openai.schema.ts';
import { createStreamEncoder } from './openai.stream.ts';
import { sendTurn } from './openai.turn.ts';
import { collectCompletion } from './openai.whole.ts';

/** Members of clients of comparable systems for functions that this door does not have; no provider knows them. */
const IGNORED = [
  'assistant_message_id',
  'background_tasks',
  'chat_id',
  'chat_variables',
  'features',
  'files',
  'filter_ids',
  'folder_id',
  'id',
  'message_ids',
  'model_item',
  'params',
  'parent_id',
  'parent_message',
  'regeneration_message_id',
  'regeneration_prompt',
  'session_id',
  'skill_ids',
  'terminal_id',
  'tool_servers',
  'user_message',
  'variables',
];

/** Members of the request that the engine gets by themselves; the stream options are for our own stream. */
const OWN = new Set(['model', 'messages', 'stream', 'stream_options', 'tool_ids', ...IGNORED]);

/** `POST /chat/completions`. */
export async function answerChat(parts: Parts, exchange: Exchange<ChatBody>): Promise<unknown> {
  const { scope, body, reply, resolveModel, signal } = exchange;
  scope.reply.nameIgnored?.(IGNORED.filter((name) => name in body));
  const model = await resolveModel(body.model);
  const params = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => !OWN.has(name) && value !== null),
  );
  const turn = complete(scope, {
    model,
    messages: body.messages as CompletionRequest['messages'],
    params,
    ...(body.tool_ids && { toolIds: body.tool_ids }),
    context: { kind: 'api' },
    signal,
  });
  if (!body.stream) return collectCompletion(model.id, turn);
  const wantsUsage = body.stream_options?.include_usage ?? false;
  await sendTurn({ ...exchange, parts }, turn, openEventStream(reply, ': waiting\n\n'), {
    event: createStreamEncoder(model.id, wantsUsage),
    failure: (failure) => `data: ${JSON.stringify(toOpenAiError(failure))}\n\n`,
  });
  return undefined;
}
