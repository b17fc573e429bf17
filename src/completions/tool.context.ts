import { isObject } from '../core/json/json.ts';
import type { Scope } from '../core/scope.ts';
import type { ChatMessage } from '../providers/providers.types.ts';
import type { CallContext } from '../python/pool.ts';
import type { CompletionRequest } from './completions.types.ts';

/** What tools get of the turn. Without system prompt and parameters of the model, which the caller may not be allowed to read. */
export function contextOf(
  { actor, request }: Scope,
  { model, messages, context }: CompletionRequest,
): CallContext {
  const { id, name, provider, meta } = model;
  const { kind = 'api', chat_id, message_id, metadata, files } = context ?? {};
  const described = { id, name, object: 'model', owned_by: provider.owned_by, info: { id, name, meta } };
  return {
    messages: messages.map(withoutData),
    files,
    metadata: {
      ...metadata,
      user_id: actor.id,
      chat_id,
      message_id,
      interface: kind,
      request_id: request.id,
      files,
      model: described,
    },
    model: described,
    chat_id,
    message_id,
  };
}

/** Each call gets the messages, so images and files would soon exceed the limits of calls. */
function withoutData(message: ChatMessage): ChatMessage {
  const { content } = message;
  return Array.isArray(content) ? ({ ...message, content: content.map(cut) } as ChatMessage) : message;
}

const MOST_ENCODED = 1_000;

/** A part, with the beginning of each text of data that it has. */
function cut(part: unknown): unknown {
  if (typeof part === 'string') {
    if (part.startsWith('data:')) return `${part.slice(0, Math.min(part.indexOf(',') + 1, 100))}[left out]`;
    return part.length > MOST_ENCODED ? '[left out]' : part;
  }
  if (!isObject(part) || part.type === 'text') return part;
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, cut(value)]));
}
