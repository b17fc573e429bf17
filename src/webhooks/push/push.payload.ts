import type { DueMessage } from '../deliveries/deliveries.repository.ts';

const CHARACTERS = 200;
const MENTION = /<@[UM]:[^|>]*\|([^>]*)>/g;

/** What a browser shows of a message. Push services accept 4 KiB. */
export const pushPayload = (messageId: string, { content, author, channel_id, ...message }: DueMessage) => ({
  type: 'message',
  channel_id,
  message_id: messageId,
  parent_id: message.parent_id,
  channel_name: message.channel_name,
  channel_type: message.channel_type,
  author_name: author,
  content: [...content.slice(0, 8 * CHARACTERS).replaceAll(MENTION, '@$1')].slice(0, CHARACTERS).join(''),
});
