import { z } from 'zod';
import { channelMember } from '../channels/channels.procedure.ts';
import { emptiable } from '../core/nulls.ts';
import { picture } from '../core/pictures.ts';
import { open, router } from '../core/trpc.ts';
import { id, LIMITS, label, shownName, text } from '../core/wire.ts';
import { WebhookView } from './webhooks.schema.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  postByWebhook,
  updateWebhook,
} from './webhooks.service.ts';

/** An empty text is what forms send for none. */
const webhookForm = { name: shownName(), profile_image_url: emptiable(z.union([z.literal(''), picture()])) };
const oneWebhook = { id: id(), webhook_id: id() };

export const webhooksRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/webhooks',
        tags: ['webhooks'],
        summary: "A channel's webhooks with their tokens (its managers)",
      },
      access: 'channel.manage',
    })
    .input(z.object({ id: id() }))
    .output(z.array(WebhookView))
    .query(({ ctx, input }) => listWebhooks(ctx.scope, input.id)),

  create: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/webhooks/create',
        tags: ['webhooks'],
        summary: 'Make an address by which programs post into the channel',
      },
      access: 'channel.manage',
    })
    .input(z.object({ id: id(), ...webhookForm }))
    .output(WebhookView)
    .mutation(({ ctx, input }) => createWebhook(ctx.scope, input.id, input)),

  update: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/webhooks/{webhook_id}/update',
        tags: ['webhooks'],
        summary: 'Rename a webhook or change its picture; its address stays',
      },
      access: 'channel.manage',
    })
    .input(z.object({ ...oneWebhook, ...webhookForm }))
    .output(WebhookView)
    .mutation(({ ctx, input }) => updateWebhook(ctx.scope, input.id, input.webhook_id, input)),

  delete: channelMember
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/channels/{id}/webhooks/{webhook_id}/delete',
        tags: ['webhooks'],
        summary: 'Delete a webhook; its messages stay',
      },
      access: 'channel.manage',
    })
    .input(z.object(oneWebhook))
    .output(z.boolean())
    .mutation(({ ctx, input }) => deleteWebhook(ctx.scope, input.id, input.webhook_id)),

  post: open
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/webhooks/{webhook_id}/{token}',
        tags: ['webhooks'],
        summary: 'Post a message as a webhook: whoever knows its address, 60 times a minute',
        errorResponses: [401, 403, 429],
      },
      access: 'open',
      bodyBytes: 2 * LIMITS.contentBytes,
    })
    .input(z.object({ webhook_id: id(), token: label(), content: text(LIMITS.contentBytes).min(1) }))
    .output(z.object({ success: z.literal(true), message_id: z.string() }))
    .mutation(({ ctx, input }) => postByWebhook(ctx.scope, input)),
});
