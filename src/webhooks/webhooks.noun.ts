import type { Parts } from '../core/scope.ts';
import { defineNoun } from '../noun.ts';
import { deliverJob } from './deliveries/deliveries.job.ts';
import { measureDeliveries } from './deliveries/deliveries.metrics.ts';
import { deliveriesRouter } from './deliveries/deliveries.router.ts';
import { PushKey, PushSubscription } from './push/push.entity.ts';
import { pushRouter } from './push/push.router.ts';
import { startWebPush } from './push/push.start.ts';
import { announceSignUp } from './signups.ts';
import { passOnWebhooks } from './webhooks.deletion.repository.ts';
import { ChannelWebhook, Delivery } from './webhooks.entity.ts';
import { startWebhooks } from './webhooks.parts.ts';
import { resealWebhooks } from './webhooks.reseal.ts';
import { webhooksRouter } from './webhooks.router.ts';

export const webhooks = defineNoun({
  name: 'webhooks',
  routers: { webhooks: webhooksRouter, deliveries: deliveriesRouter, push: pushRouter },
  entities: [ChannelWebhook, Delivery, PushKey, PushSubscription],
  reseal: resealWebhooks,
  jobs: [deliverJob],
  metrics: measureDeliveries,
  async start(base) {
    const push = await startWebPush(base);
    const onError = base.warn('Notifications to webhooks are held up; stored ones are tried again.');
    const webhooks = await startWebhooks({ ...base, push }, base.shared, onError);
    const onSignUp: Parts['onSignUp'] = (user) => announceSignUp({ ...base, webhooks }, user);
    return { parts: { webhooks, onSignUp }, close: webhooks.close };
  },
  onAccountDeleted: passOnWebhooks,
});
