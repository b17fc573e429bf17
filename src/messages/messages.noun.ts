import { defineNoun } from '../noun.ts';
import { Message, MessageTempId } from './messages.entity.ts';
import { createPostQueue } from './messages.post.queue.ts';
import { forgetOldTempIds } from './messages.post.ts';
import { messagesRouter } from './messages.router.ts';

export const messages = defineNoun({
  name: 'messages',
  routers: { messages: messagesRouter },
  entities: [Message, MessageTempId],
  start: ({ sql, warn }) => ({
    parts: { posts: createPostQueue(sql) },
    close: forgetOldTempIds(sql, warn('Old temporary ids could not be removed.')).close,
  }),
  onAccountDeleted: 'rows stay',
});
