import type { ActingScope, Actor } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import type { ChannelAccess } from './channels.access.repository.ts';
import type { Author, ChannelBrief } from './channels.brief.schema.ts';
import { RECORD } from './channels.changes.repository.ts';
import type { ChannelEventType } from './channels.notices.schema.ts';

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

/** What happened to a channel; `user_ids` are those who came or went. */
interface Happening<Type extends ChannelEventType = ChannelEventType> {
  type: Type;
  data: { user_ids?: string[] };
}

/** A deletion takes the log along, so it is a notice only. */
export type LoggedHappening = Happening<Exclude<ChannelEventType, 'channel:deleted'>>;

export interface RecordedHappening {
  event_id: number;
  /** Nanoseconds. */
  at: number;
  channel: ChannelBrief;
  happening: LoggedHappening;
}

/**
 * Logs what happened to channels, each under its own next number and as it is by then. The last statement of the change's
 * transaction: what it tells of has been written.
 */
export async function recordHappening(
  scope: ActingScope,
  sql: Sql,
  channelIds: string[],
  happening: LoggedHappening,
): Promise<RecordedHappening[]> {
  const rows = await sql.rows(RECORD, {
    channelIds,
    type: happening.type,
    actor: JSON.stringify(authorOf(scope.actor)),
    data: JSON.stringify(happening.data),
  });
  return rows.map(({ event_id, at, ...channel }) => ({ event_id, at, channel, happening }));
}

/**
 * Publishes an event that is in the log to all its readers.
 *
 * @param access whether other people may read the channel now; who is new begins with this event, which shows them the channel
 */
export function publishHappening(
  scope: ActingScope,
  { event_id, at, channel, happening }: RecordedHappening,
  access: 'changed' | 'same',
): void {
  const channelId = channel.id;
  if (access === 'changed') scope.bus.publish('channel.access', { channelId, since: event_id - 1 });
  scope.bus.publish('channel.event', {
    event_id,
    channel_id: channelId,
    message_id: null,
    created_at: at,
    data: happening,
    user: authorOf(scope.actor),
    channel,
  });
}

/** Tells those whom the channel's log does not reach, or not any more. */
export function publishNotice(
  scope: ActingScope,
  to: { userIds: string[] } | { channelId: string },
  channel: ChannelBrief,
  data: Happening,
): void {
  const notice = { channel_id: channel.id, message_id: null, data, user: authorOf(scope.actor), channel };
  scope.bus.publish('channel.notice', { to, notice });
}
