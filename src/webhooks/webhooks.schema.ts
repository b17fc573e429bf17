import { z } from 'zod';
import { nanoseconds } from '../core/wire.ts';

/** An address by which programs post into a channel, as channel managers see it. */
export const WebhookView = z
  .object({
    id: z.string(),
    channel_id: z.string(),
    /** The creator. */
    user_id: z.string(),
    name: z.string(),
    profile_image_url: z.string().nullable(),
    /** The secret part of the address. */
    token: z.string(),
    last_used_at: nanoseconds().nullable(),
    created_at: nanoseconds(),
    updated_at: nanoseconds(),
  })
  .meta({ id: 'ChannelWebhook' });
export type WebhookView = z.infer<typeof WebhookView>;

/** A webhook in the list of all channels: without the secret part of its address. */
export const ListedWebhook = WebhookView.omit({ token: true, profile_image_url: true })
  .extend({
    channel: z.object({ id: z.string(), name: z.string(), type: z.string().nullable() }),
    /** The creator; null if the account was deleted. */
    user: z.object({ id: z.string(), name: z.string() }).nullable(),
  })
  .meta({ id: 'ListedWebhook' });
export type ListedWebhook = z.infer<typeof ListedWebhook>;
