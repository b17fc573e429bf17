import { z } from 'zod';
import { nanoseconds } from '../../core/wire.ts';
import { PostedMessage } from '../../messages/messages.schema.ts';
import { Author, ChannelBrief } from '../channels.schema.ts';

/** What the events of channels count as, at every door, for an API key that is bound to some paths. */
export const EVENT_PATHS = ['/api/channels/events', '/ws/socket.io'];

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
    /**
     * The message as it is then. A post also carries the client's own id, and a reaction its name. Where `meta.abridged` is true, the
     * message is long, and its words are what they were before: a client keeps what it has of content, data and meta.
     */
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

/**
 * Stands in the place of events that the log does not hold any more, or that a restored backup has never known: whoever hears it
 * reads the channel anew. What follows is numbered from `event_id + 1`.
 */
export const ChannelReloadView = z
  .object({
    event_id: z.int(),
    channel_id: z.string(),
    message_id: z.null(),
    data: z.object({ type: z.literal('reload'), data: z.object({}) }),
  })
  .meta({ id: 'ChannelReload' });
export type ChannelReloadView = z.infer<typeof ChannelReloadView>;

/** What a client hears of a channel's log. */
export type LoggedView = ChannelEventView | ChannelReloadView;

export const reloadOf = (channelId: string, eventId: number): ChannelReloadView => ({
  event_id: eventId,
  channel_id: channelId,
  message_id: null,
  data: { type: 'reload', data: {} },
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
      Happening.options[1],
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

declare module '../../events/bus.ts' {
  interface BusTopics {
    'channel.notice': AddressedNotice;
  }
}
