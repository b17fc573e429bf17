import { z } from 'zod';
import { router } from '../core/trpc.ts';
import { id, plainName } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { addReaction, removeReaction } from './reactions.service.ts';

/** The name is an emoji, or a word for one. */
const reaction = () => z.object({ id: id(), message_id: id(), name: plainName(64) });

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
    .input(reaction())
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
    .input(reaction())
    .output(z.boolean())
    .mutation(({ ctx, input }) => removeReaction(ctx.scope, input)),
});
