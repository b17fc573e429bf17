import { z } from 'zod';
import { GrantView, grantList } from '../access/access.schema.ts';
import { freeForm, id, LIMITS, label, nanoseconds, shownName } from '../core/wire.ts';

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

/** The author of a message or of a change to a channel. */
export const Author = z.object({ id: z.string(), name: z.string(), role: z.string() }).meta({ id: 'Author' });
export type Author = z.infer<typeof Author>;

/** Somebody in a group or direct channel, as lists of channels name them. */
const MemberBrief = z
  .object({
    id: z.string(),
    name: z.string(),
    /** Whether they did anything within the last three minutes. */
    is_active: z.boolean(),
  })
  .meta({ id: 'MemberBrief' });

/** What the caller wants to be told of a channel; counts say what there is, whatever the level. */
export const NotifyLevel = z.enum(['all', 'mentions', 'none']);
export type NotifyLevel = z.infer<typeof NotifyLevel>;

/** How far what is new is counted in each channel: clients show `99+` for it. */
export const COUNT_LIMIT = 100;
/** A count of what is new. @param what as a sentence without its end */
export const unreadCount = (what: string) =>
  z.int().meta({ description: `${what}. Counting ends at ${COUNT_LIMIT}, which stands for \`99+\`` });

export const ChannelView = z
  .object({
    ...CHANNEL_FIELDS,
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

/** The most people that a group may have. */
export const MAX_MEMBERS = 1000;

/** Whom to add or remove. Who is in a user group counts as it is then. */
export const people = {
  user_ids: z.array(id()).max(MAX_MEMBERS).default([]).describe('Accounts'),
  group_ids: z
    .array(id())
    .max(100)
    .default([])
    .describe('User groups: stands for the people who are in them at the time of the call'),
};

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
