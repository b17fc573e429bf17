import { z } from 'zod';
import { router } from '../core/trpc.ts';
import { id, moment, name, page } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { FoundMessage } from './search.schema.ts';
import { search } from './search.service.ts';

/** More words than anybody looks for; each costs a look into the index. */
const QUERY_CHARACTERS = 500;

export const searchRouter = router({
  messages: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/messages/search',
        tags: ['messages'],
        summary: 'Find messages by their words, newest first',
        errorResponses: [404, 422],
      },
      access: 'channel.read',
    })
    .input(
      z.object({
        /** Words, "a phrase", `or`, -without; the last word may be the beginning of one. */
        q: name(QUERY_CHARACTERS),
        channel_id: id().nullable().default(null),
        from: id().nullable().default(null),
        before: moment().nullable().default(null),
        after: moment().nullable().default(null),
        ...page,
      }),
    )
    .output(z.array(FoundMessage))
    .query(({ ctx, input }) => search(ctx.scope, input)),
});
