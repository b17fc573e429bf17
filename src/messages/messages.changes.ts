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
  /** As text, nanoseconds. */
  at: string;
  user: Author;
  channel: ChannelBrief;
}

/** Tells everybody of a change that stands in the log. */
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

/** What deleting a message leaves of what was said in it. */
export const ERASED_FORM = { content: '', data: { files: [] }, meta: { deleted: true } };

/** The same, with what hung on it. */
export const ERASED = {
  ...ERASED_FORM,
  reactions: [],
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
};

interface Recorded {
  message: MessageView;
  /** Whether the message is a tombstone now, or gone. */
  is_deleted: boolean;
}

interface Change {
  sql: Sql;
  /** The channel's time of the change: text, nanoseconds. */
  at: string;
  /** The message as it is until then, under the channel's lock. @throws not_found */
  before: () => Promise<StoredMessage>;
}

/**
 * Records one change to a message, and returns the message as it is then, abridged where it is long and its words are the same as
 * before. `extra` goes into the event beside it.
 */
type LogChange = (
  type: MessageEventType,
  messageId: string,
  apply: (change: Change) => Promise<void>,
  how?: { extra?: { name: string }; hasNewWords?: boolean },
) => Promise<Recorded>;

/**
 * Makes changes and the events that tell of them, in one transaction. Each `log` takes the channel's next number under its
 * lock, applies the change, and records the message as it is then; a change that fails takes its number back with it. One that
 * deletes the message must have read what was there before.
 */
export async function recordChanges<T>(
  scope: Scope,
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

/** Thrown by a change that finds nothing to do: everything is taken back, the event's number included. */
export class Unchanged extends Error {}

/** As `recordChanges`, for changes that may find nothing to do. @returns undefined when that is so */
export async function recordIfChanged<T>(
  ...args: Parameters<typeof recordChanges<T>>
): Promise<T | undefined> {
  return recordChanges<T>(...args).catch((error) => {
    if (error instanceof Unchanged) return undefined;
    throw error;
  });
}
