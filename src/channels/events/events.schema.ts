import { z } from 'zod';
import { Author, ChannelBrief } from '../../channelbase/channels.brief.schema.ts';
import { ChannelHappening } from '../../channelbase/channels.notices.schema.ts';
import { nanoseconds } from '../../core/wire.ts';
import { MESSAGE_EVENTS, PostedMessage } from '../../messages/messages.schema.ts';

/** What the events of channels count as, at every door, for an API key that is bound to some paths. */
export const EVENT_PATHS = ['/api/channels/events', '/ws/socket.io'];

const Happening = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(MESSAGE_EVENTS),
    /**
     * The message as it is then. A post also carries the client's own id, and a reaction its name. Where `meta.abridged` is true, the
     * message is long, and its words are what they were before: a client keeps what it has of content, data and meta.
     */
    data: PostedMessage.partial({ temp_id: true }).extend({ name: z.string().optional() }),
  }),
  ChannelHappening,
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

declare module '../../events/bus.ts' {
  interface BusTopics {
    /** A change that stands in a channel's event log. */
    'channel.event': ChannelEventView;
  }
}
