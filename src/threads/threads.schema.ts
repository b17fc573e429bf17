import { z } from 'zod';
import { MessageView } from '../messages/messages.schema.ts';
import { unreadCount } from '../reads/reads.schema.ts';

export const ThreadView = z
  .object({
    root: MessageView,
    channel: z.object({ id: z.string(), name: z.string(), type: z.string().nullable() }),
    unread_count: unreadCount('Replies of others since the caller has read the channel'),
  })
  .meta({ id: 'Thread' });
export type ThreadView = z.infer<typeof ThreadView>;
