import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { router } from '../core/trpc/trpc.ts';
import { id } from '../core/wire.ts';
import { stopReply } from './replies.service.ts';

export const repliesRouter = router({
  stop: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/stop',
        tags: ['messages'],
        summary: 'Stop the reply of a model',
        description:
          'For the person who called the model, those who manage the channel, and administrators who may read it. The ' +
          'connection to the provider is closed; the text so far stays, and `message:update` with `meta.stopped` and ' +
          '`meta.done` follows. A reply that is done stays as it is. 404 for a message that no model wrote.',
      },
      access: 'channel.read',
    })
    .input(z.object({ id: id(), message_id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => stopReply(ctx.scope, input.id, input.message_id)),
});
