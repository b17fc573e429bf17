import { defineNoun } from '../noun.ts';
import { Message, MessageTempId } from './messages.entity.ts';
import { keepPages } from './messages.kept.ts';
import { createPostQueue } from './messages.post.queue.ts';
import { forgetOldTempIds } from './messages.post.ts';
import { messagesRouter } from './messages.router.ts';

export const messages = defineNoun({
  name: 'messages',
  routers: { messages: messagesRouter },
  entities: [Message, MessageTempId],
  start({ sql, bus, warn }) {
    const kept = keepPages(bus);
    const cleaning = forgetOldTempIds(sql, warn('Old temporary ids could not be removed.'));
    return {
      parts: { posts: createPostQueue(sql), keptPages: kept.pages },
      async close() {
        kept.close();
        await cleaning.close();
      },
    };
  },
  onAccountDeleted: 'rows stay',
});
