import { z } from 'zod';
import { router } from '../core/trpc.ts';
import { id } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { reactionName, storedReactionName } from './reactions.schema.ts';
import { addReaction, removeReaction } from './reactions.service.ts';

const message = { id: id(), message_id: id() };

/** Whoever may post may react: it is a word in public, under one's own name. */
export const reactionsRouter = router({
  add: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/reactions/add',
        tags: ['messages'],
        summary: 'React to a message',
      },
      access: 'channel.write',
    })
    .input(z.object({ ...message, name: reactionName() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => addReaction(ctx.scope, input)),

  remove: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/reactions/remove',
        tags: ['messages'],
        summary: 'Take a reaction back',
      },
      access: 'channel.write',
    })
    .input(z.object({ ...message, name: storedReactionName() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => removeReaction(ctx.scope, input)),
});
