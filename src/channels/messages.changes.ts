import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import type { ChannelAccess } from './channels.repository.ts';
import type { ChannelBrief } from './channels.schema.ts';
import { noSuchChannel } from './channels.service.ts';
import type { ChannelEventView, MessageEventType } from './events.schema.ts';
import { LOG, TICK, VIEW_ONE } from './messages.repository.ts';
import type { Author, MessageView, PostedMessage } from './messages.schema.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /** A change that stands in a channel's event log. */
    'channel.event': ChannelEventView;
  }
}

export const noSuchMessage = () =>
  new AppError('not_found', { detail: 'There is no such message in this channel.' });

/** The caller as the author of what they write. */
export const authorOf = ({ id, name, role }: Actor): Author => ({ id, name, role });

/** The channel as its events carry it. */
export const briefOf = (channel: ChannelAccess): ChannelBrief => {
  const {
    can_read: _read,
    can_write: _write,
    can_moderate: _moderate,
    is_manager: _manager,
    ...brief
  } = channel;
  return brief;
};

interface Happening {
  event_id: number;
  channel_id: string;
  type: MessageEventType;
  message: MessageView | PostedMessage;
  /** As text, nanoseconds. */
  at: string;
  user: Author;
  channel: ChannelBrief;
}

/** Tells everybody of a change that stands in the log. */
export function publishEvent(scope: Scope, happening: Happening): void {
  const { event_id, channel_id, type, message, at, user, channel } = happening;
  scope.bus.publish('channel.event', {
    event_id,
    channel_id,
    message_id: message.id,
    created_at: Number(at),
    data: { type, data: message },
    user,
    channel,
  });
}

/** All that the `meta` of a deleted message says. */
export const ERASED_META = { deleted: true };

/** What a deleted message still shows. */
const erased = (view: MessageView, at: string): MessageView => ({
  ...view,
  content: '',
  data: {},
  meta: ERASED_META,
  reactions: [],
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
  updated_at: Number(at),
});

interface Recorded {
  message: MessageView;
  /** Whether the message is a tombstone now, or gone. */
  is_deleted: boolean;
}

/** Records one change to a message, and returns the message as it is then. */
type LogChange = (
  type: MessageEventType,
  messageId: string,
  apply: (sql: Sql, at: string, before: { view: MessageView; is_deleted: boolean }) => Promise<void>,
) => Promise<Recorded>;

/**
 * Makes changes and the events that tell of them, in one transaction. Each `log` takes the channel's next number under its
 * lock, applies the change, and records the message as it is then; a change that fails takes its number back with it.
 */
export async function recordChanges<T>(
  scope: Scope,
  channel: ChannelAccess,
  work: (log: LogChange) => Promise<T>,
): Promise<T> {
  const user = authorOf(scope.actor);
  const common = { channel_id: channel.id, user, channel: briefOf(channel) };
  const happenings: Happening[] = [];
  const result = await scope.sql.transaction((sql) =>
    work(async (type, messageId, apply) => {
      const [tick] = await sql.rows(TICK, [channel.id]);
      if (!tick) throw noSuchChannel();
      const { event_id, at } = tick;
      const [before] = await sql.rows(VIEW_ONE, [channel.id, messageId]);
      if (!before) throw noSuchMessage();
      await apply(sql, at, before);
      const [after] = await sql.rows(VIEW_ONE, [channel.id, messageId]);
      const message = after?.view ?? erased(before.view, at);
      const texts = [JSON.stringify(user), JSON.stringify(message)];
      await sql.rows(LOG, [channel.id, event_id, type, messageId, ...texts, at]);
      happenings.push({ ...common, event_id, type, message, at });
      return { message, is_deleted: after?.is_deleted ?? true };
    }),
  );
  for (const happening of happenings) publishEvent(scope, happening);
  return result;
}
