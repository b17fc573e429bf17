import { z } from 'zod';
import { seconds } from '../core/wire.ts';

const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']);

/** A notification to somebody's webhook, and what became of it. */
export const DeliveryView = z
  .object({
    id: z.string(),
    channel_id: z.string().nullable(),
    message_id: z.string().nullable(),
    /** The server that gets it; the rest of such an address is a secret. */
    url: z.string(),
    status: DeliveryStatus,
    attempts: z.int(),
    /** Null when it is not tried any more. */
    next_attempt_at: seconds().nullable(),
    /** What the other server answered last; null when it did not. */
    response_status: z.int().nullable(),
    error: z.string().nullable(),
    created_at: seconds(),
    updated_at: seconds(),
  })
  .meta({ id: 'Delivery' });
export type DeliveryView = z.infer<typeof DeliveryView>;
