import { z } from 'zod';
import { channelMember } from '../channelbase/channels.procedure.ts';
import { picture } from '../core/pictures.ts';
import { emptiable } from '../core/schema/nulls.ts';
import { administrator, open, router } from '../core/trpc/trpc.ts';
import { id, LIMITS, label, page, shownName, text } from '../core/wire.ts';
import { ListedWebhook, WebhookView } from './webhooks.schema.ts';
import {
  createWebhook,
  deleteWebhook,
  listAllWebhooks,
  listWebhooks,
  postByWebhook,
  updateWebhook,
} from './webhooks.service.ts';

/** Forms send an empty text for "no picture". */
const webhookForm = {
  name: shownName(),
  profile_image_url: emptiable(
    z
      .union([z.literal(''), picture()])
      .describe('A data URI of at most 256 KiB; empty or null removes the picture, left out keeps it'),
  ),
};
const oneWebhook = { id: id(), webhook_id: id() };

export const webhooksRouter = router({
  list: channelMember
    .meta({
      openapi: {
        method: 'GET',
        path: '/channels/{id}/webhooks',
        tags: ['webhooks'],
        summary: 'List the webhooks of a channel with their tokens',
        description:
          'For the owner of a standard channel, the managers of a group, and administrators. The oldest ' +
          'comes first; `token` is a secret. A webhook posts at `/channels/webhooks/{webhook_id}/{token}`. ' +
          'An empty `token` means that the server no longer has the key that it was sealed with: make the ' +
          'webhook anew.',
      },
      access: 'channel.manage',
    })
    .input(z.object({ id: id() }))
    .output(z.array(WebhookView))
    .query(({ ctx, input }) => listWebhooks(ctx.scope, input.id)),

  listAll: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/webhooks',
        tags: ['webhooks'],
        summary: 'List the webhooks of all channels',
        description:
          'The newest first, each with its channel and its creator, without the secret part of its address: ' +
          '`GET /channels/{id}/webhooks` has that.',
      },
      access: 'administrator',
    })
    .input(z.object(page))
    .output(z.array(ListedWebhook))
    .query(({ ctx, input }) => listAllWebhooks(ctx.scope, input)),

  create: channelMember
    .meta({
      openapi: {
        method: 'POST',
        path: '/channels/{id}/webhooks/create',
        tags: ['webhooks'],
        summary: 'Create a webhook by which programs post into the channel',
        description:
          'For those who manage the channel. Answers the webhook with its `token`; a program posts at ' +
          '`/channels/webhooks/{webhook_id}/{token}` without other credentials. A channel has at most 20 ' +
          'webhooks (400).',
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
        summary: 'Change the name or the picture of a webhook',
        description:
          'For those who manage the channel. The token stays as it is. Messages that the webhook has posted ' +
          'show the new name and picture, too.',
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
        summary: 'Delete a webhook',
        description:
          'For those who manage the channel. Its address stops working at once. Its messages stay, and ' +
          'their author is shown as `Deleted Webhook`.',
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
        summary: 'Post a message as a webhook',
        description:
          'The address is the whole credential: an unknown webhook and a wrong token are both answered with ' +
          '401. The author of the message is the webhook (role `webhook`), `user_id` is the account that ' +
          'made it. Sends the event `message`, and mentions work as in a post; it causes no delivery to ' +
          'personal webhooks. A webhook may post 60 messages a minute (429); posts also count for the ' +
          'configured limits of the account that made it (429, 507).',
        errorResponses: [401, 403, 429, 507],
      },
      access: 'open',
      bodyBytes: 2 * LIMITS.contentBytes,
    })
    .input(
      z.object({
        webhook_id: id(),
        token: label(),
        content: text(LIMITS.contentBytes).min(1).describe('Text of the message'),
      }),
    )
    .output(z.object({ success: z.literal(true), message_id: z.string() }))
    .mutation(({ ctx, input }) => postByWebhook(ctx.scope, input)),
});
