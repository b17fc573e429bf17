import { z } from 'zod';
import { MessageView } from './messages.schema.ts';

export const ThreadView = z
  .object({
    root: MessageView,
    channel: z.object({ id: z.string(), name: z.string(), type: z.string().nullable() }),
    unread_count: z.int().meta({
      description:
        'Replies of others since the caller has read the channel. Counting ends at 1000, which stands for "more"',
    }),
  })
  .meta({ id: 'Thread' });
export type ThreadView = z.infer<typeof ThreadView>;
