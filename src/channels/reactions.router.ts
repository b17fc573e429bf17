import { z } from 'zod';
import { router } from '../core/trpc.ts';
import { id, name } from '../core/wire.ts';
import { channelMember } from './channels.procedure.ts';
import { addReaction, removeReaction } from './reactions.service.ts';

/** An emoji or the name of one. The same text in another Unicode form is the same reaction. */
const reactionName = () => z.string().trim().normalize('NFC').pipe(name(64));

const reaction = () => z.object({ id: id(), message_id: id(), name: reactionName() });

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
