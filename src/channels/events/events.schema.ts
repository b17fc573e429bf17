import { z } from 'zod';
import { Author, ChannelBrief } from '../../channelbase/channels.brief.schema.ts';
import { ChannelHappening } from '../../channelbase/channels.notices.schema.ts';
import { nanoseconds } from '../../core/wire.ts';
import { MESSAGE_EVENTS, PostedMessage } from '../../messages/messages.schema.ts';

/** The paths of channel events for API keys with a list of paths; they apply to every door. */
export const EVENT_PATHS = ['/api/channels/events', '/ws/socket.io'];

const Happening = z.discriminatedUnion('type', [
  z.object({
    type: z.enum(MESSAGE_EVENTS),
    /**
     * The message after the change. A post also has the client's own id, and a reaction its name. If
     * `meta.abridged` is true, the message is long and its text did not change: clients keep their content,
     * data and meta.
     */
    data: PostedMessage.partial({ temp_id: true }).extend({ name: z.string().optional() }),
  }),
  ChannelHappening,
]);
export type Happening = z.infer<typeof Happening>;

/** An event of a channel, the same at every door. */
export const ChannelEventView = z
  .object({
    /** The numbers of a channel's events have no gaps. */
    event_id: z.int(),
    channel_id: z.string(),
    message_id: z.string().nullable(),
    created_at: nanoseconds(),
    data: Happening,
    /** The author of the change. */
    user: Author,
    channel: ChannelBrief,
  })
  .meta({ id: 'ChannelEvent' });
export type ChannelEventView = z.infer<typeof ChannelEventView>;

/**
 * Replaces events that the log no longer has, or that are missing from a restored backup: the client reads
 * the channel again. The next event has the number `event_id + 1`.
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

/**
 * A notice of no channel: the rights of the person may have changed, or a channel is not readable any more. Clients ask
 * again for what depends on rights.
 */
export const RightsNoticeView = z
  .object({
    channel_id: z.null(),
    message_id: z.null(),
    data: z.object({ type: z.literal('access:updated'), data: z.object({}) }),
    /** The person. */
    user: Author,
  })
  .meta({ id: 'RightsNotice' });
export type RightsNoticeView = z.infer<typeof RightsNoticeView>;

/** An item of a channel's log for clients. */
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
