import { z } from 'zod';
import { nanoseconds } from '../core/wire.ts';
import { ChannelBrief } from './channels.schema.ts';
import { Author, PostedMessage } from './messages.schema.ts';

export const MESSAGE_EVENTS = [
  'message',
  'message:update',
  'message:delete',
  'message:reply',
  'message:reaction:add',
  'message:reaction:remove',
] as const;
export type MessageEventType = (typeof MESSAGE_EVENTS)[number];

/** What happened to a channel itself; the envelope shows the channel as it is then. */
export const CHANNEL_EVENTS = [
  'channel:created',
  'channel:updated',
  'channel:deleted',
  'channel:member:add',
  'channel:member:remove',
] as const;
export type ChannelEventType = (typeof CHANNEL_EVENTS)[number];

const Happening = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(MESSAGE_EVENTS),
    /** The message as it is then. A post also carries the client's own id, and a reaction its name. */
    data: PostedMessage.partial({ temp_id: true }).extend({ name: z.string().optional() }),
  }),
  z.object({
    type: z.enum(CHANNEL_EVENTS),
    /** Who came or went, when that is what happened. */
    data: z.object({ user_ids: z.array(z.string()).optional() }),
  }),
]);
export type Happening = z.infer<typeof Happening>;

/** What a change in a channel looks like at every event door. */
export const ChannelEventView = z
  .object({
    /** Numbers the events of a channel without gaps. */
    event_id: z.int(),
    channel_id: z.string(),
    message_id: z.string().nullable(),
    created_at: nanoseconds(),
    data: Happening,
    /** Who did it. */
    user: Author,
    channel: ChannelBrief,
  })
  .meta({ id: 'ChannelEvent' });
export type ChannelEventView = z.infer<typeof ChannelEventView>;

/** What is told at once and not kept: it may be lost, and has no number. */
export const NOTICE_TYPES = ['typing', 'presence', 'message:delta'] as const;

/** Something passing in a channel, or what concerns one person and no log of theirs could hold. */
export const ChannelNoticeView = z
  .object({
    channel_id: z.string(),
    message_id: z.string().nullable(),
    data: z.union([
      z.object({ type: z.enum(NOTICE_TYPES), data: z.record(z.string(), z.unknown()) }),
      Happening.options[1],
    ]),
    /** Whom it comes from. */
    user: Author,
    /** Only with what happened to the channel itself. */
    channel: ChannelBrief.optional(),
  })
  .meta({ id: 'ChannelNotice' });
export type ChannelNoticeView = z.infer<typeof ChannelNoticeView>;

declare module '../events/bus.ts' {
  interface BusTopics {
    /** A passing notice: to these people wherever they are connected, or to all who hear the channel. */
    'channel.notice': { to: { userIds: string[] } | { channelId: string }; notice: ChannelNoticeView };
  }
}
