import type { ActingScope, Actor } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import type { ChannelAccess } from './channels.access.repository.ts';
import type { Author, ChannelBrief } from './channels.brief.schema.ts';
import { RECORD } from './channels.changes.repository.ts';
import type { ChannelEventType } from './channels.notices.schema.ts';

/** The caller as the author of a message or a change. */
export const authorOf = ({ id, name, role }: Actor): Author => ({ id, name, role });

/** The channel as events show it. */
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

/** A change of a channel; `user_ids` are the people who joined or left. */
interface Happening<Type extends ChannelEventType = ChannelEventType> {
  type: Type;
  data: { user_ids?: string[] };
}

/** Deleting a channel deletes its log, so a deletion is only a notice. */
export type LoggedHappening = Happening<Exclude<ChannelEventType, 'channel:deleted'>>;

export interface RecordedHappening {
  event_id: number;
  /** Nanoseconds. */
  at: number;
  channel: ChannelBrief;
  happening: LoggedHappening;
}

/**
 * Logs a change of channels. Each channel gets its own next event number. Call it last in the transaction, so
 * that the event shows the channel after the change.
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
 * Publishes a logged event to all readers.
 *
 * @param access `changed` if the readers of the channel may have changed; new readers get this event first,
 *   which shows them the channel
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

/** Publishes a notice to people who do not get the event from the channel's log. */
export function publishNotice(
  scope: ActingScope,
  to: { userIds: string[] } | { channelId: string },
  channel: ChannelBrief,
  data: Happening,
): void {
  const notice = { channel_id: channel.id, message_id: null, data, user: authorOf(scope.actor), channel };
  scope.bus.publish('channel.notice', { to, notice });
}
