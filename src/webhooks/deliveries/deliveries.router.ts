import { z } from 'zod';
import { administrator, member, router } from '../../core/trpc/trpc.ts';
import { id, page } from '../../core/wire.ts';
import { DeliveryStatus, DeliveryView, ListedDelivery } from './deliveries.schema.ts';
import { listAllDeliveries, listDeliveries, redeliver } from './deliveries.service.ts';

export const deliveriesRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/deliveries',
        tags: ['notifications'],
        summary: "List the deliveries of notifications to the caller's webhook and browsers",
        description:
          'Newest first. A delivery is created when a message concerns the caller (by notification level ' +
          'and mentions) who has no open event connection, for the webhook address in the settings while ' +
          '`ui.enable_user_webhooks` is on, and for each browser that is subscribed to web push. It is tried up to 5 times within about 45 minutes. `url` ' +
          'shows only the server of the address; entries are kept for 30 days.',
      },
      access: 'member',
    })
    .input(z.object(page))
    .output(z.array(DeliveryView))
    .query(({ ctx, input }) => listDeliveries(ctx.scope, input)),

  listAll: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/deliveries',
        tags: ['notifications'],
        summary: 'List the deliveries of notifications to all webhooks',
        description:
          "Newest first: those of people, and those of the installation's own webhook (`webhook_url`), whose " +
          '`user` is null. `url` shows only the server of the address; entries are kept for 30 days.',
      },
      access: 'administrator',
    })
    .input(z.object({ status: DeliveryStatus.optional(), ...page }))
    .output(z.array(ListedDelivery))
    .query(({ ctx, input }) => listAllDeliveries(ctx.scope, input)),

  redeliver: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/user/deliveries/{id}/redeliver',
        tags: ['notifications'],
        summary: 'Send a notification to a webhook again',
        description:
          'For a delivery of the caller that was delivered or has failed, and for administrators also one of the ' +
          "installation's own webhook; one that is still `pending` is refused with 400. " +
          'Answers it at once as `pending` with 0 attempts, to be tried in the background ' +
          'up to 5 times. It goes to the address of that time, with the text that the message has now. 30 a ' +
          'minute are allowed (429).',
        errorResponses: [429],
      },
      access: 'member',
    })
    .input(z.object({ id: id() }))
    .output(DeliveryView)
    .mutation(({ ctx, input }) => redeliver(ctx.scope, input.id)),
});
