import { z } from 'zod';
import { seconds } from '../../core/wire.ts';

export const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']);

/** A notification to a user's webhook or browser, and its state. */
export const DeliveryView = z
  .object({
    id: z.string(),
    channel_id: z.string().nullable(),
    message_id: z.string().nullable(),
    /** To a webhook, or to a browser by web push. */
    kind: z.enum(['webhook', 'push']),
    /** The server. The rest of the address is a secret. */
    url: z.string(),
    status: DeliveryStatus,
    attempts: z.int(),
    /** Null if there is no further attempt. */
    next_attempt_at: seconds().nullable(),
    /** The last status that the other server answered; null if it did not answer. */
    response_status: z.int().nullable(),
    error: z.string().nullable(),
    created_at: seconds(),
    updated_at: seconds(),
  })
  .meta({ id: 'Delivery' });
export type DeliveryView = z.infer<typeof DeliveryView>;

/** A delivery with its recipient. */
export const ListedDelivery = DeliveryView.extend({
  /** Null for the installation's own webhook (`webhook_url`). */
  user: z.object({ id: z.string(), name: z.string() }).nullable(),
}).meta({ id: 'ListedDelivery' });
export type ListedDelivery = z.infer<typeof ListedDelivery>;
