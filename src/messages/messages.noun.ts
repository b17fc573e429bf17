import { defineNoun } from '../core/noun.ts';
import { Message, MessageTempId } from './messages.entity.ts';
import { messagesRouter } from './messages.router.ts';

export const messages = defineNoun({
  name: 'messages',
  routers: { messages: messagesRouter },
  entities: [Message, MessageTempId],
  onAccountDeleted: 'rows stay',
});
