import { listReaders } from '../../channelbase/channels.access.repository.ts';
import { readableChannels } from '../../channelbase/channels.access.service.ts';
import { authorOf } from '../../channelbase/channels.changes.ts';
import { AddressedNotice, CHANNEL_EVENTS } from '../../channelbase/channels.notices.schema.ts';
import type { Actor } from '../../core/scope.ts';
import type { Sql } from '../../database/sql.ts';
import { StreamEvent, type StreamKind, StreamNotice, streamOf } from '../../events/streams.ts';
import { readClock, readEvents, readHeads, readPositions, readRecentHeads } from './events.repository.ts';
import { ChannelEventView, type RightsNoticeView, reloadOf } from './events.schema.ts';

export const CHANNEL = 'channel';
export const channelStream = (channelId: string): string => streamOf(CHANNEL, channelId);

/** For these events the log drops the earlier text of the message. */
const REWRITING: ReadonlySet<string> = new Set(['message:update', 'message:delete']);
/** With these events the members or grants of the channel may have changed. */
const CHANGING_READERS: ReadonlySet<string> = new Set(CHANNEL_EVENTS);

/** The streams of channels, `channel:<id>`: each is the event log of one channel. */
export function channelStreams(sql: Sql): StreamKind {
  return {
    name: CHANNEL,
    envelope: 'events:channel',
    listen(bus, to) {
      // Events of this process are typed; a process of another version may send any other shape.
      const ends = [
        bus.subscribe('channel.event', (event) =>
          to.event(streamEventOf(bus.shared ? ChannelEventView.parse(event) : event)),
        ),
        bus.subscribe('channel.notice', (message) =>
          to.notice(noticeOf(bus.shared ? AddressedNotice.parse(message) : message)),
        ),
        bus.subscribe('channel.access', ({ channelId, since }) =>
          to.access({ stream: channelStream(channelId), since }),
        ),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
    now: () => readClock(sql),
    heads: (ids) => readHeads(sql, [...ids]),
    after: async (id, number, limit) => (await readEvents(sql, id, number, limit)).map(streamEventOf),
    reload: (id, number) =>
      new StreamEvent({ stream: channelStream(id), body: reloadOf(id, number), number, atNs: null }),
    standings: (ids, moment) => readPositions(sql, [...ids], moment),
    recentHeads: (caller, moment) => readRecentHeads(sql, caller, moment),
    readable: (scope, among) => readableChannels(scope, among && [...among]),
    readers: (id, userIds) => listReaders(sql, id, [...userIds]),
  };
}

const streamEventOf = (view: ChannelEventView): StreamEvent =>
  new StreamEvent({
    stream: channelStream(view.channel_id),
    body: view,
    number: view.event_id,
    atNs: view.created_at,
    size: charactersOf(view),
    rewrites: REWRITING.has(view.data.type),
    changesReaders: CHANGING_READERS.has(view.data.type),
  });

export function rightsNotice(person: Actor): StreamNotice {
  const body: RightsNoticeView = {
    channel_id: null,
    message_id: null,
    data: { type: 'access:updated', data: {} },
    user: authorOf(person),
  };
  return new StreamNotice(channelStream(''), body, { mustArrive: true });
}

function noticeOf({ to, notice }: AddressedNotice) {
  const isFarewell = notice.data.type === 'channel:deleted';
  return {
    userIds: 'userIds' in to ? to.userIds : null,
    notice: new StreamNotice(channelStream(notice.channel_id), notice, { isFarewell }),
  };
}

/**
 * The approximate length of an event's text. Most messages have no data and no meta, and need no
 * serialisation.
 */
function charactersOf({ data, channel }: ChannelEventView): number {
  const messages = 'content' in data.data ? [data.data, data.data.reply_to_message] : [];
  const parts = messages.filter((message) => message !== null);
  const forms = [channel, ...parts].flatMap((part) => [part.data, part.meta]);
  return forms.reduce(
    (sum, form) => (form && Object.keys(form).length > 0 ? sum + JSON.stringify(form).length : sum),
    parts.reduce((sum, { content }) => sum + content.length, 0),
  );
}
