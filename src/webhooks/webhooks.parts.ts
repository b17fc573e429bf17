import { createLimit, type Limit, type SharedStore } from '../core/limits.ts';
import type { Parts } from '../core/scope.ts';
import { type Deliveries, startDeliveries } from './deliveries.sender.ts';
import { notifyOfMessages } from './notifications.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly webhooks: Webhooks;
  }
}

/** What the webhooks of a process share, both ways. */
export interface Webhooks {
  /** What one incoming webhook may post. */
  readonly postLimit: Limit;
  /** What one person may have sent again. */
  readonly redeliverLimit: Limit;
  readonly deliveries: Deliveries;
  close(): Promise<void>;
}

type Needed = Pick<Parts, 'sql' | 'bus' | 'configs' | 'egress' | 'presence' | 'secret'>;

export function startWebhooks(
  parts: Needed,
  shared: SharedStore,
  onError: (error: unknown) => void,
): Webhooks {
  const deliveries = startDeliveries({ ...parts, onError });
  const stopNotifying = notifyOfMessages(parts, deliveries, onError);
  return {
    postLimit: createLimit('webhook', { points: 60, seconds: 60 }, shared),
    redeliverLimit: createLimit('redeliver', { points: 30, seconds: 60 }, shared),
    deliveries,
    async close() {
      await stopNotifying();
      await deliveries.close();
    },
  };
}
