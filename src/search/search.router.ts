import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { router } from '../core/trpc/trpc.ts';
import { id, moment, name, page } from '../core/wire.ts';
import { FoundMessage } from './search.schema.ts';
import { search } from './search.service.ts';

/** Each word costs an index lookup. */
const QUERY_CHARACTERS = 500;

export const searchRouter = router({
  messages: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/messages/search',
        tags: ['messages'],
        summary: 'Search messages by their words',
        description:
          'Searches the channels that the caller may read, replies included, and answers the newest match ' +
          'first. Words match whole and in any case, except the last one, which may be the beginning of a ' +
          'word. `fragments` holds up to three places of each match. `q` needs a word that must occur ' +
          '(400). A search that takes over 5 seconds, or a `skip` over 10000, is refused with 422; one ' +
          'account may run 4 searches at once (429).',
        errorResponses: [404, 422, 429],
      },
      access: 'channel.read',
    })
    .input(
      z.object({
        q: name(QUERY_CHARACTERS).describe(
          'Words, "a phrase", `or`, -without; the last word may be the beginning of one',
        ),
        channel_id: id().nullable().default(null),
        from: id().nullable().default(null).describe('Only messages of this account or webhook'),
        before: moment().nullable().default(null).describe('Only messages before this time, nanoseconds'),
        after: moment().nullable().default(null).describe('Only messages after this time, nanoseconds'),
        ...page,
      }),
    )
    .output(z.array(FoundMessage))
    .query(({ ctx, input }) => search(ctx.scope, input)),
});
