import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { router } from '../core/trpc/trpc.ts';
import { id } from '../core/wire.ts';
import { reactionName, storedReactionName } from './reactions.schema.ts';
import { addReaction, removeReaction } from './reactions.service.ts';

const message = { id: id(), message_id: id() };

/** Reacting needs the right to post, because reactions are public and show the name of the person. */
export const reactionsRouter = router({
  add: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/reactions/add',
        tags: ['messages'],
        summary: 'React to a message',
        description:
          'For all who may write in the channel. A message takes at most 50 different names (400). Answers ' +
          'true and sends `message:reaction:add`; the same reaction again changes nothing and sends ' +
          'nothing.',
      },
      access: 'channel.write',
    })
    .input(z.object({ ...message, name: reactionName().describe('An emoji, or a word for one') }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => addReaction(ctx.scope, input)),

  remove: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/reactions/remove',
        tags: ['messages'],
        summary: 'Remove the own reaction from a message',
        description:
          "For all who may write in the channel; only the caller's own reaction is removed. Answers true " +
          'and sends `message:reaction:remove`; without such a reaction it answers true and sends nothing.',
      },
      access: 'channel.write',
    })
    .input(z.object({ ...message, name: storedReactionName().describe('As it was added') }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => removeReaction(ctx.scope, input)),
});
