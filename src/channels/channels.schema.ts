import { z } from 'zod';
import { GrantView, grantList } from '../access/access.schema.ts';
import { ChannelBrief } from '../channelbase/channels.brief.schema.ts';
import { freeForm, LIMITS, label, nanoseconds, shownName } from '../core/wire.ts';
import { NotifyLevel, unreadCount } from '../reads/reads.schema.ts';

/** Somebody in a group or direct channel, as lists of channels name them. */
const MemberBrief = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Whether they did anything within the last three minutes. */
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
    /** Time of the newest message that the caller has seen; null before they have opened the channel. */
    last_read_at: nanoseconds().nullable(),
    unread_count: unreadCount('Messages of others, replies included, since `last_read_at`'),
    mention_count: unreadCount('Those among them that mention the caller, by name, `@here` or `@channel`'),
    notify: NotifyLevel,
    /** True for every level but `all`. */
    is_channel_muted: z.boolean(),
    /** Who is in a direct channel; null in lists for others. */
    user_ids: z.array(z.string()).nullable(),
    users: z.array(MemberBrief).nullable(),
  })
  .meta({ id: 'Channel' });
export type ChannelView = z.infer<typeof ChannelView>;

/** One channel: `users` and `user_ids` also name the members of a group. */
export const ChannelDetail = ChannelView.extend({
  /** How many people may read it. */
  user_count: z.int(),
}).meta({ id: 'ChannelDetail' });
export type ChannelDetail = z.infer<typeof ChannelDetail>;

/** `group` and `dm` have members; else it is a standard channel. */
export const channelTypes = z
  .enum(['', 'group', 'dm'])
  .nullish()
  .describe(
    '`group` and `dm` have members; empty or left out is a standard channel, which has access grants',
  );

/** What a channel is made of; members that are not sent stay as they are. */
export const channelForm = {
  name: shownName(),
  description: label(4096).nullish(),
  is_private: z.boolean().nullish().describe('Kept for clients; access does not depend on it'),
  data: freeForm(LIMITS.listedFormBytes).nullish().describe('Kept for clients, at most 8 KiB'),
  meta: freeForm(LIMITS.listedFormBytes).nullish().describe('Kept for clients, at most 8 KiB'),
  access_grants: grantList().nullish().describe('Of a standard channel; ignored for others'),
};
