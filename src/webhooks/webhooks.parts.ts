import { createLimit, type Limit, type SharedStore } from '../core/limits/limits.ts';
import type { Parts } from '../core/scope.ts';
import { adoptDeliveries, type Deliveries, keepDeliveries } from './deliveries/deliveries.store.ts';
import { notifyOfMessages } from './notifications.ts';
import type { WebPush } from './push/push.send.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly webhooks: Webhooks;
  }
}

/** State that incoming and outgoing webhooks of a process share. */
export interface Webhooks {
  /** Limit of posts by one incoming webhook. */
  readonly postLimit: Limit;
  /** Limit of repeated deliveries for one user. */
  readonly redeliverLimit: Limit;
  readonly deliveries: Deliveries;
  /** Null where the environment does not switch web push on. */
  readonly push: WebPush | null;
  close(): Promise<void>;
}

type Needed = Pick<Parts, 'sql' | 'bus' | 'configs' | 'presence' | 'secret'> & Pick<Webhooks, 'push'>;

export async function startWebhooks(
  parts: Needed,
  shared: SharedStore,
  onError: (error: unknown) => void,
): Promise<Webhooks> {
  await adoptDeliveries(parts.sql, parts.secret);
  const deliveries = keepDeliveries({ ...parts, onError });
  const stopNotifying = notifyOfMessages(parts, deliveries, onError);
  return {
    postLimit: createLimit('webhook', { points: 60, seconds: 60 }, shared),
    redeliverLimit: createLimit('redeliver', { points: 30, seconds: 60 }, shared),
    deliveries,
    push: parts.push,
    async close() {
      await stopNotifying();
      await deliveries.close();
    },
  };
}
