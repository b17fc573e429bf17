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

/** The channel or the caller's account was deleted between the look at it and the write of the same statement. */
function refuseVanished(error: Refusal): never {
  if (!isDangling(error)) throw error;
  if (error.constraint === 'channel_reader_channel_id_foreign') throw noSuchChannel();
  throw new AppError('unauthenticated', { cause: error });
}

/**
 * Notes up to where the caller has read a channel; that never goes back. Their other clients are told.
 *
 * @param at nanoseconds; everything there is unless told
 * @returns where the mark is now, nanoseconds
 * @throws not_found, forbidden
 */
export async function markRead(
  scope: Scope,
  channelId: string,
  at?: number | null,
): Promise<{ last_read_at: number }> {
  // The decimal form of a time is exact where its bits are not.
  const text = at === undefined || at === null ? null : String(at);
  const { had_news, ...mark } = found(
    await markChannel(scope.sql, scope.actor, channelId, text).catch(refuseVanished),
  );
  // Clients mark at every turn; most of the time nothing has come since.
  if (had_news) tellOfMark(scope, channelId, mark);
  return { last_read_at: mark.last_read_at };
}

/** What is new drops on the phone too when it is read at the desk. Nobody else learns what somebody has read. */
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

/** Stores what the caller wants to be told of, and tells their own clients. @throws not_found, forbidden */
export async function setNotify(scope: Scope, channelId: string, level: NotifyLevel): Promise<true> {
  const done = found(await storeNotify(scope.sql, scope.actor, channelId, level).catch(refuseVanished));
  tellOwnClients(scope, channelId, { type: 'channel:mute', data: { is_channel_muted: level !== 'all' } });
  return done;
}

/**
 * Takes a group or direct channel off the caller's list until its next message, which also counts it as read, or puts it back. They
 * stay in it.
 *
 * @throws not_found also for a channel that they are not in
 */
export async function setListed(scope: Scope, channelId: string, isListed: boolean): Promise<true> {
  const stored = await storeHidden(scope.sql, scope.actor.id, channelId, !isListed).catch(refuseVanished);
  if (!stored) throw noSuchChannel();
  const { was_hidden, last_read_at } = stored;
  if (!isListed && !was_hidden && last_read_at !== null)
    tellOfMark(scope, channelId, { last_read_at, unread_count: 0, mention_count: 0 });
  return true;
}

/** What is new for the caller in all their channels together. */
export const countUnread = (scope: Scope): Promise<UnreadTotals> => readTotals(scope.sql, scope.actor);
