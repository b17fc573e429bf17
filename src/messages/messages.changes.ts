import type { ChannelAccess } from '../channelbase/channels.access.repository.ts';
import { noSuchChannel } from '../channelbase/channels.access.service.ts';
import type { Author, ChannelBrief } from '../channelbase/channels.brief.schema.ts';
import { authorOf, briefOf } from '../channelbase/channels.changes.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { LOG, LOG_AS_IT_IS, LOG_EDITED, TICK } from './messages.changes.repository.ts';
import { type StoredMessage, VIEW_ONE } from './messages.repository.ts';
import { inOrder, type MessageEventType, type MessageView, type PostedMessage } from './messages.schema.ts';

export const noSuchMessage = () =>
  new AppError('not_found', { detail: 'There is no such message in this channel.' });

interface Happening {
  event_id: number;
  channel_id: string;
  type: MessageEventType;
  message: MessageView | PostedMessage | (MessageView & { name: string });
  /** Nanoseconds, as text. */
  at: string;
  user: Author;
  channel: ChannelBrief;
}

/** Publishes a logged change to all readers. */
export function publishEvent(scope: Pick<Scope, 'bus'>, happening: Happening): void {
  const { event_id, channel_id, type, message, at, user, channel } = happening;
  scope.bus.publish('channel.event', {
    event_id,
    channel_id,
    message_id: message.id,
    created_at: Number(at),
    data: { type, data: inOrder(message) },
    user,
    channel,
  });
}

/** The members of a deleted message, also where it is quoted. */
export const ERASED_FORM = { content: '', data: { files: [] }, meta: { deleted: true } };

/** All members that a deletion resets. */
export const ERASED = {
  ...ERASED_FORM,
  reactions: [],
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
};

/** A change by a person; it may be made after the call that caused it. */
export type ChangingScope = Pick<Scope, 'actor' | 'sql' | 'bus'>;

interface Recorded {
  message: MessageView;
  /** Whether the message is a tombstone now, or was deleted. */
  is_deleted: boolean;
}

interface Change {
  sql: Sql;
  /** The time of the change: nanoseconds, as text. */
  at: string;
  /** The message before the change, under the channel's lock. @throws not_found */
  before: () => Promise<StoredMessage>;
}

/**
 * Logs one change of a message, and returns the message after the change. A long message is abridged if its
 * text did not change. The event also gets the members of `extra`.
 */
type LogChange = (
  type: MessageEventType,
  messageId: string,
  apply: (change: Change) => Promise<void>,
  how?: { extra?: { name: string }; hasNewWords?: boolean },
) => Promise<Recorded>;

/**
 * Makes changes of messages and their events, in one transaction. Each call of `log` takes the next number of
 * the channel under its lock, makes the change, and logs the message after it. A change that fails also gives
 * back its number. A change that deletes the message must call `before` first.
 */
export async function recordChanges<T>(
  scope: ChangingScope,
  channel: ChannelAccess,
  work: (log: LogChange) => Promise<T>,
): Promise<T> {
  const user = authorOf(scope.actor);
  const common = { channel_id: channel.id, user, channel: briefOf(channel) };
  const happenings: Happening[] = [];
  const result = await transaction(scope, (tx) =>
    work(async (type, messageId, apply, { extra, hasNewWords = false } = {}) => {
      const [tick] = await tx.rows(TICK, { channelId: channel.id });
      if (!tick) throw noSuchChannel();
      const { event_id, at } = tick;
      let known: StoredMessage | undefined;
      const before = async () => {
        [known] = await tx.rows(VIEW_ONE, { channelId: channel.id, messageId });
        if (!known) throw noSuchMessage();
        return known;
      };
      await apply({ sql: tx, at, before });
      const entry = {
        channelId: channel.id,
        eventId: event_id,
        type,
        messageId,
        actor: JSON.stringify(user),
        at,
      };
      const log = hasNewWords ? LOG_EDITED : LOG_AS_IT_IS;
      let [recorded] = await tx.rows(log, { ...entry, extra: JSON.stringify(extra ?? {}) });
      if (!recorded) {
        if (!known) throw noSuchMessage();
        const message = { ...known.view, ...ERASED, updated_at: known.view.created_at };
        await tx.rows(LOG, { ...entry, message: JSON.stringify(message) });
        recorded = { message, is_deleted: true };
      }
      const message = { ...recorded.message, ...extra };
      happenings.push({ ...common, event_id, type, message, at });
      return recorded;
    }),
  );
  for (const happening of happenings) publishEvent(scope, happening);
  return result;
}

/** Thrown by a change that has nothing to do. Rolls back the transaction, with the number of the event. */
export class Unchanged extends Error {}

/** As `recordChanges`, for changes that may have nothing to do. @returns undefined in that case */
export async function recordIfChanged<T>(
  ...args: Parameters<typeof recordChanges<T>>
): Promise<T | undefined> {
  return recordChanges<T>(...args).catch((error) => {
    if (error instanceof Unchanged) return undefined;
    throw error;
  });
}
