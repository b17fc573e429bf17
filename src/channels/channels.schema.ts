import { z } from 'zod';
import { GrantView, grantList } from '../access/access.schema.ts';
import { freeForm, label, name, nanoseconds } from '../core/wire.ts';

const CHANNEL_FIELDS = {
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
};

/** A channel as its events carry it: without its grants. */
export const ChannelBrief = z.object(CHANNEL_FIELDS).meta({ id: 'ChannelBrief' });
export type ChannelBrief = z.infer<typeof ChannelBrief>;

export const ChannelView = z
  .object({
    ...CHANNEL_FIELDS,
    access_grants: z.array(GrantView),
    /** Null until the first message. */
    last_message_at: nanoseconds().nullable(),
    write_access: z.boolean(),
    /** Whether the caller may change and delete the channel itself. */
    is_manager: z.boolean(),
  })
  .meta({ id: 'Channel' });
export type ChannelView = z.infer<typeof ChannelView>;

/** What a channel is made of; members that are not sent stay as they are. */
export const channelForm = {
  name: name(),
  description: label(4096).nullish(),
  is_private: z.boolean().nullish(),
  data: freeForm().nullish(),
  meta: freeForm().nullish(),
  access_grants: grantList().nullish(),
};
