import { z } from 'zod';
import { uncheckedList } from '../core/json.ts';
import { router } from '../core/trpc.ts';
import { page } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { ThreadView } from './threads.schema.ts';
import { listThreads } from './threads.service.ts';

export const threadsRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/threads',
        tags: ['messages'],
        summary: 'Threads that the caller began, replied to or was mentioned in, newest reply first',
      },
      access: 'member',
    })
    .input(
      z.object({
        /** Only those with replies that the caller has not seen. */
        unread: z.boolean().default(false),
        ...page,
      }),
    )
    .output(uncheckedList(ThreadView))
    .query(({ ctx, input }) => listThreads(ctx.scope, input)),
});
