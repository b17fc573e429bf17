import { defineNoun } from '../core/noun.ts';
import { deliveriesRouter } from './deliveries.router.ts';
import { passOnWebhooks } from './webhooks.deletion.repository.ts';
import { ChannelWebhook, Delivery } from './webhooks.entity.ts';
import { resealWebhooks } from './webhooks.reseal.ts';
import { webhooksRouter } from './webhooks.router.ts';

export const webhooks = defineNoun({
  name: 'webhooks',
  routers: { webhooks: webhooksRouter, deliveries: deliveriesRouter },
  entities: [ChannelWebhook, Delivery],
  reseal: resealWebhooks,
  onAccountDeleted: passOnWebhooks,
});
