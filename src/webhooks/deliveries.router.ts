import { z } from 'zod';
import { member, router } from '../core/trpc.ts';
import { id, page } from '../core/wire.ts';
import { DeliveryView } from './deliveries.schema.ts';
import { listDeliveries, redeliver } from './deliveries.service.ts';

export const deliveriesRouter = router({
  list: member
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/user/deliveries',
        tags: ['notifications'],
        summary: "The caller's notifications by webhook, and what became of them",
      },
      access: 'member',
    })
    .input(z.object(page))
    .output(z.array(DeliveryView))
    .query(({ ctx, input }) => listDeliveries(ctx.scope, input)),

  redeliver: member
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/user/deliveries/{id}/redeliver',
        tags: ['notifications'],
        summary: 'Send one of the own notifications again',
        errorResponses: [429],
      },
      access: 'member',
    })
    .input(z.object({ id: id() }))
    .output(DeliveryView)
    .mutation(({ ctx, input }) => redeliver(ctx.scope, input.id)),
});
