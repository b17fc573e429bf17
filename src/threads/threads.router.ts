import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { uncheckedList } from '../core/json/json.ts';
import { router } from '../core/trpc/trpc.ts';
import { page } from '../core/wire.ts';
import { ThreadView } from './threads.schema.ts';
import { listThreads } from './threads.service.ts';

export const threadsRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/threads',
        tags: ['messages'],
        summary: 'List the threads that the caller began, replied to or was mentioned in',
        description:
          'Covers all channels that the caller may read; the thread with the newest reply comes first. ' +
          '`root` is the first message of the thread, and `unread_count` the replies of others since the ' +
          'caller last read the channel. A thread whose root was deleted stays while it has replies.',
      },
      access: 'member',
    })
    .input(
      z.object({
        unread: z.boolean().default(false).describe('Only threads with replies that the caller has not seen'),
        ...page,
      }),
    )
    .output(uncheckedList(ThreadView))
    .query(({ ctx, input }) => listThreads(ctx.scope, input)),
});
