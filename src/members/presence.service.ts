import { found, requireChannel } from '../channelbase/channels.access.service.ts';
import { authorOf } from '../channelbase/channels.changes.ts';
import { AppError } from '../core/errors.ts';
import { createLimit } from '../core/limits/limits.ts';
import type { Scope } from '../core/scope.ts';
import { listActive, listPeople, type MemberQuery } from './members.list.repository.ts';
import { type MemberOrdering, orderingOf } from './members.schema.ts';

/**
 * What one person may tell a second, at all their clients and doors together: each of it goes to everybody in a channel. Every process
 * counts for itself, which bounds it as well.
 */
const typingLimit = createLimit('typing', { points: 20, seconds: 1 }, null);

/** What the members of a channel are not shown of each other, an order by it would tell. */
const HIDDEN: readonly MemberOrdering['column'][] = ['email', 'group'];

export type MemberListInput = Omit<MemberQuery, 'order'> & { order_by: string };

/** The people of a channel, 30 a page. @throws not_found, forbidden also for orders that are for administrators alone */
export async function listMembers(scope: Scope, { order_by, ...query }: MemberListInput) {
  const order = orderingOf(order_by);
  if (HIDDEN.includes(order.column) && scope.actor.role !== 'admin') {
    const detail = 'Only administrators put members in the order of addresses or groups.';
    throw new AppError('forbidden', { detail });
  }
  return found(await listPeople(scope.sql, scope.actor, { ...query, order }));
}

/** Who of a channel's people did anything lately, the latest first. @throws not_found, forbidden */
export async function listPresent(
  scope: Scope,
  channelId: string,
): Promise<{ user_id: string; is_active: boolean }[]> {
  const active = found(await listActive(scope.sql, scope.actor, channelId));
  return active.map((user_id) => ({ user_id, is_active: true }));
}

/**
 * Tells everybody in a channel that the caller is writing, or has stopped; nothing of it is kept.
 *
 * @param messageId the root of the thread that they write in; null in the main line
 * @throws not_found, forbidden unless they may write there, rate_limited
 */
export async function setTyping(
  scope: Scope,
  channelId: string,
  messageId: string | null,
  isTyping: boolean,
): Promise<true> {
  await requireChannel(scope, channelId, 'write');
  await typingLimit.take(scope.actor.id, 'You tell too often that you are writing.');
  scope.bus.publish('channel.notice', {
    to: { channelId },
    notice: {
      channel_id: channelId,
      message_id: messageId,
      data: { type: 'typing', data: { typing: isTyping } },
      user: authorOf(scope.actor),
    },
  });
  return true;
}
