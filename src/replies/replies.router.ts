import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { router } from '../core/trpc/trpc.ts';
import { id } from '../core/wire.ts';
import { retryReply } from './replies.retry.service.ts';
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

  retry: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/messages/{message_id}/retry',
        tags: ['messages'],
        summary: 'Have a failed or stopped reply of a model written again',
        description:
          'For the person who called the model. The message is emptied, which `message:update` with `meta.done` ' +
          'false says, and written anew as at the first time; its earlier text leaves the event log. A reply ' +
          'that is still written or has succeeded is refused with 400, a message that no model wrote with 404. ' +
          'Counts as a post for the configured limits (429).',
        errorResponses: [429],
      },
      access: 'channel.write',
    })
    .input(z.object({ id: id(), message_id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => retryReply(ctx.scope, input.id, input.message_id)),
});
