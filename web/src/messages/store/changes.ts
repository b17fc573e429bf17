import type { ChannelEvent, Message } from '@parley/client';

/** What an event makes of a message; none of these functions changes its arguments. */

export type MessageEvent = Extract<ChannelEvent['data'], { data: { id: string } }>;

export const isMessageEvent = (data: ChannelEvent['data']): data is MessageEvent => 'id' in data.data;

/** A message that still has replies keeps its place. */
export const isGone = (message: Message): boolean =>
  message.meta.deleted === true && message.reply_count === 0;

/** The message of an event; an abridged one lacks what did not change. */
export function merge(known: Message | undefined, next: Message): Message {
  if (!known || next.meta.abridged !== true) return next;
  return { ...next, content: known.content, data: known.data, meta: known.meta };
}

interface Reaction {
  name: string;
  userId: string;
  isAdded: boolean;
}

/** Events name only the first people of a reaction, so the own reaction is kept by what the page knows. */
export function withOwnReactions(
  known: Message | undefined,
  next: Message,
  me: { id: string; name: string },
  changed?: Reaction,
): Message {
  const hadOwn = (name: string) =>
    known?.reactions.find((reaction) => reaction.name === name)?.users.some(({ id }) => id === me.id) ??
    false;
  const isOwn = (name: string) =>
    changed?.name === name && changed.userId === me.id ? changed.isAdded : hadOwn(name);
  const reactions = next.reactions.map((reaction) => {
    const names = reaction.users.some(({ id }) => id === me.id);
    return isOwn(reaction.name) && !names
      ? { ...reaction, users: [...reaction.users, { id: me.id, name: me.name }] }
      : reaction;
  });
  return { ...next, reactions };
}

/** The message with the new text of the message that it quotes. */
export function withQuote(message: Message, quoted: Message): Message {
  if (message.reply_to_message?.id !== quoted.id) return message;
  const { content, data, meta, updated_at } = merge({ ...quoted, ...message.reply_to_message }, quoted);
  return { ...message, reply_to_message: { ...message.reply_to_message, content, data, meta, updated_at } };
}

interface Grown {
  offset: number;
  content: string;
}

const isGrown = (value: unknown): value is Grown =>
  typeof value === 'object' &&
  value !== null &&
  'offset' in value &&
  typeof value.offset === 'number' &&
  'content' in value &&
  typeof value.content === 'string';

/** The reply of a model with a piece more; null when text between the two is missing. See docs/events.md. */
export function grow(message: Message, delta: Record<string, unknown>): Message | null {
  if (message.meta.done !== false || !isGrown(delta)) return message;
  const reasoning = typeof message.data.reasoning === 'string' ? message.data.reasoning : '';
  const thought = isGrown(delta.reasoning) ? delta.reasoning : null;
  if (delta.offset > message.content.length || (thought && thought.offset > reasoning.length)) return null;
  return {
    ...message,
    content: message.content.slice(0, delta.offset) + delta.content,
    data: {
      ...message.data,
      ...(thought && { reasoning: reasoning.slice(0, thought.offset) + thought.content }),
      ...('tool_calls' in delta && { tool_calls: delta.tool_calls }),
    },
  };
}
