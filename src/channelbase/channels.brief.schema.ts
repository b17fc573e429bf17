import { z } from 'zod';
import { nanoseconds } from '../core/wire.ts';

/** A channel in events, without its grants. */
export const ChannelBrief = z
  .object({
    id: z.string(),
    user_id: z.string(),
    type: z.string().nullable(),
    name: z.string(),
    description: z.string().nullable(),
    is_private: z.boolean().nullable(),
    data: z.record(z.string(), z.unknown()).nullable(),
    meta: z.record(z.string(), z.unknown()).nullable(),
    created_at: nanoseconds(),
    updated_at: nanoseconds(),
    updated_by: z.string().nullable(),
  })
  .meta({ id: 'ChannelBrief' });
export type ChannelBrief = z.infer<typeof ChannelBrief>;

/** The author of a message or of a change to a channel. */
export const Author = z.object({ id: z.string(), name: z.string(), role: z.string() }).meta({ id: 'Author' });
export type Author = z.infer<typeof Author>;
