import { z } from 'zod';
import { Author, ChannelBrief } from './channels.brief.schema.ts';

/** Changes of a channel. The event shows the channel after the change. */
export const CHANNEL_EVENTS = [
  'channel:created',
  'channel:updated',
  'channel:deleted',
  'channel:member:add',
  'channel:member:remove',
] as const;
export type ChannelEventType = (typeof CHANNEL_EVENTS)[number];

/** A change of a channel, in events and notices. */
export const ChannelHappening = z.object({
  type: z.enum(CHANNEL_EVENTS),
  /** The people who joined or left, for changes of members. */
  data: z.object({ user_ids: z.array(z.string()).optional() }),
});

/** Types of notices. Notices are not stored, have no number and may be lost. */
// `message:ask`, `last_read_at` and `channel:mute` go only to the clients of one person. Notices may arrive in another order:
// the latest mark counts.
export const NOTICE_TYPES = [
  'typing',
  'presence',
  'message:delta',
  'message:ask',
  'message:ask:done',
  'last_read_at',
  'channel:mute',
] as const;

/** A temporary state in a channel, or information for one person, which no log of a channel could hold. */
export const ChannelNoticeView = z
  .object({
    channel_id: z.string(),
    message_id: z.string().nullable(),
    data: z.union([
      z.object({ type: z.enum(NOTICE_TYPES), data: z.record(z.string(), z.unknown()) }),
      ChannelHappening,
    ]),
    /** The sender. */
    user: Author,
    /** Only for changes of the channel itself. */
    channel: ChannelBrief.optional(),
  })
  .meta({ id: 'ChannelNotice' });
export type ChannelNoticeView = z.infer<typeof ChannelNoticeView>;

/**
 * A notice with its recipients: these people wherever they are connected, or all connected readers of the
 * channel.
 */
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
