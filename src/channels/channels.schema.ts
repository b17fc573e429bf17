import { z } from 'zod';
import { GrantView, grantList } from '../access/access.schema.ts';
import { ChannelBrief } from '../channelbase/channels.brief.schema.ts';
import { freeForm, LIMITS, label, nanoseconds, shownName } from '../core/wire.ts';
import { NotifyLevel, unreadCount } from '../reads/reads.schema.ts';

/** A member of a group or direct channel, in lists of channels. */
const MemberBrief = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Whether the person was active within the last three minutes. */
    is_active: z.boolean(),
  })
  .meta({ id: 'MemberBrief' });

export const ChannelView = z
  .object({
    ...ChannelBrief.shape,
    access_grants: z.array(GrantView),
    /** Null until the first message. */
    last_message_at: nanoseconds().nullable(),
    write_access: z.boolean(),
    /** Whether the caller may change and delete the channel itself. */
    is_manager: z.boolean(),
    /**
     * Time of the newest message that the caller has seen; null if the caller has never opened the channel.
     */
    last_read_at: nanoseconds().nullable(),
    unread_count: unreadCount('Messages of others, replies included, since `last_read_at`'),
    mention_count: unreadCount('Those among them that mention the caller, by name, `@here` or `@channel`'),
    notify: NotifyLevel,
    /** True for every level except `all`. */
    is_channel_muted: z.boolean(),
    /** The members of a direct channel; null in lists for other channels. */
    user_ids: z.array(z.string()).nullable(),
    users: z.array(MemberBrief).nullable(),
  })
  .meta({ id: 'Channel' });
export type ChannelView = z.infer<typeof ChannelView>;

/** One channel. `users` and `user_ids` also list the members of a group. */
export const ChannelDetail = ChannelView.extend({
  /** The number of people who may read it. */
  user_count: z.int(),
}).meta({ id: 'ChannelDetail' });
export type ChannelDetail = z.infer<typeof ChannelDetail>;

/** `group` and `dm` have members; otherwise it is a standard channel. */
export const channelTypes = z
  .enum(['', 'group', 'dm'])
  .nullish()
  .describe(
    '`group` and `dm` have members; empty or left out is a standard channel, which has access grants',
  );

/** The fields of a channel. Fields that are not sent stay as they are. */
export const channelForm = {
  name: shownName(),
  description: label(4096).nullish(),
  is_private: z.boolean().nullish().describe('Kept for clients; access does not depend on it'),
  data: freeForm(LIMITS.listedFormBytes).nullish().describe('Kept for clients, at most 8 KiB'),
  meta: freeForm(LIMITS.listedFormBytes).nullish().describe('Kept for clients, at most 8 KiB'),
  access_grants: grantList().nullish().describe('Of a standard channel; ignored for others'),
};
