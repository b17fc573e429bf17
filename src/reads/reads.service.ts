import { found, noSuchChannel } from '../channelbase/channels.access.service.ts';
import { authorOf } from '../channelbase/channels.changes.ts';
import type { ChannelNoticeView } from '../channelbase/channels.notices.schema.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { isDangling, type Refusal } from '../database/violations.ts';
import {
  type Mark,
  markChannel,
  readTotals,
  storeHidden,
  storeNotify,
  type UnreadTotals,
} from './reads.repository.ts';
import type { NotifyLevel } from './reads.schema.ts';

/** The channel or the caller's account was deleted while the statement ran. */
function refuseVanished(error: Refusal): never {
  if (!isDangling(error)) throw error;
  if (error.constraint === 'channel_reader_channel_id_foreign') throw noSuchChannel();
  throw new AppError('unauthenticated', { cause: error });
}

/**
 * Stores how far the caller has read a channel, and notifies the caller's other clients. The mark never goes
 * back.
 *
 * @param at nanoseconds; everything if absent
 * @returns the mark, nanoseconds
 * @throws not_found, forbidden
 */
export async function markRead(
  scope: Scope,
  channelId: string,
  at?: number | null,
): Promise<{ last_read_at: number }> {
  // The decimal text of a time is exact; a double is not.
  const text = at === undefined || at === null ? null : String(at);
  const { had_news, ...mark } = found(
    await markChannel(scope.sql, scope.actor, channelId, text).catch(refuseVanished),
  );
  // Clients mark often, and usually without new messages.
  if (had_news) tellOfMark(scope, channelId, mark);
  return { last_read_at: mark.last_read_at };
}

/** Updates the counts on the caller's other clients. Other people do not learn what the caller has read. */
function tellOfMark(scope: Scope, channelId: string, mark: Omit<Mark, 'had_news'>): void {
  tellOwnClients(scope, channelId, { type: 'last_read_at', data: { ...mark } });
}

function tellOwnClients(scope: Scope, channelId: string, data: ChannelNoticeView['data']): void {
  scope.bus.publish('channel.notice', {
    to: { userIds: [scope.actor.id] },
    notice: {
      channel_id: channelId,
      message_id: null,
      data,
      user: authorOf(scope.actor),
    },
  });
}

/**
 * Stores the caller's level of notices, and notifies the caller's own clients. @throws not_found, forbidden
 */
export async function setNotify(scope: Scope, channelId: string, level: NotifyLevel): Promise<true> {
  const done = found(await storeNotify(scope.sql, scope.actor, channelId, level).catch(refuseVanished));
  tellOwnClients(scope, channelId, { type: 'channel:mute', data: { is_channel_muted: level !== 'all' } });
  return done;
}

/**
 * Hides a group or direct channel from the caller's list until its next message, which also marks it as read,
 * or shows it again. The caller stays a member.
 *
 * @throws not_found also if the caller is not a member
 */
export async function setListed(scope: Scope, channelId: string, isListed: boolean): Promise<true> {
  const stored = await storeHidden(scope.sql, scope.actor.id, channelId, !isListed).catch(refuseVanished);
  if (!stored) throw noSuchChannel();
  const { was_hidden, last_read_at } = stored;
  if (!isListed && !was_hidden && last_read_at !== null)
    tellOfMark(scope, channelId, { last_read_at, unread_count: 0, mention_count: 0 });
  return true;
}

/** The unread counts of the caller over all channels. */
export const countUnread = (scope: Scope): Promise<UnreadTotals> => readTotals(scope.sql, scope.actor);
