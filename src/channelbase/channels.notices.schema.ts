import { z } from 'zod';
import { Author, ChannelBrief } from './channels.brief.schema.ts';

/** What happened to a channel itself; the envelope shows the channel as it is then. */
export const CHANNEL_EVENTS = [
  'channel:created',
  'channel:updated',
  'channel:deleted',
  'channel:member:add',
  'channel:member:remove',
] as const;
export type ChannelEventType = (typeof CHANNEL_EVENTS)[number];

/** What happened to a channel, as its events and notices tell it. */
export const ChannelHappening = z.object({
  type: z.enum(CHANNEL_EVENTS),
  /** Who came or went, when that is what happened. */
  data: z.object({ user_ids: z.array(z.string()).optional() }),
});

/** What is told at once and not kept: it may be lost, and has no number. */
// `last_read_at` and `channel:mute` are for the caller's own clients. Notices may overtake each other: the latest mark counts.
export const NOTICE_TYPES = ['typing', 'presence', 'message:delta', 'last_read_at', 'channel:mute'] as const;

/** Something passing in a channel, or what concerns one person and no log of theirs could hold. */
export const ChannelNoticeView = z
  .object({
    channel_id: z.string(),
    message_id: z.string().nullable(),
    data: z.union([
      z.object({ type: z.enum(NOTICE_TYPES), data: z.record(z.string(), z.unknown()) }),
      ChannelHappening,
    ]),
    /** Whom it comes from. */
    user: Author,
    /** Only with what happened to the channel itself. */
    channel: ChannelBrief.optional(),
  })
  .meta({ id: 'ChannelNotice' });
export type ChannelNoticeView = z.infer<typeof ChannelNoticeView>;

/** A notice with those it is for: these people wherever they are connected, or all who hear the channel. */
export const AddressedNotice = z.object({
  to: z.union([z.object({ userIds: z.array(z.string()) }), z.object({ channelId: z.string() })]),
  notice: ChannelNoticeView,
});
export type AddressedNotice = z.infer<typeof AddressedNotice>;

declare module '../events/bus.ts' {
  interface BusTopics {
    'channel.notice': AddressedNotice;
  }
}
