import { found, requireChannel } from '../channelbase/channels.access.service.ts';
import { authorOf } from '../channelbase/channels.changes.ts';
import { AppError } from '../core/errors.ts';
import { createLimit } from '../core/limits/limits.ts';
import type { Scope } from '../core/scope.ts';
import { listActive, listPeople, type MemberQuery } from './members.list.repository.ts';
import { type MemberOrdering, orderingOf } from './members.schema.ts';

/**
 * The limit for one person, over all clients and doors, because each notice goes to everyone in the channel.
 * Each process counts for itself, so the total is bounded by the number of processes.
 */
const typingLimit = createLimit('typing', { points: 20, seconds: 1 }, null);

/** Members do not see these of each other, and an order by them would reveal them. */
const HIDDEN: readonly MemberOrdering['column'][] = ['email', 'group'];

export type MemberListInput = Omit<MemberQuery, 'order'> & { order_by: string };

/**
 * The people of a channel, 30 a page. @throws not_found, forbidden also for orders that only administrators
 * may use
 */
export async function listMembers(scope: Scope, { order_by, ...query }: MemberListInput) {
  const order = orderingOf(order_by);
  if (HIDDEN.includes(order.column) && scope.actor.role !== 'admin') {
    const detail = 'Only administrators put members in the order of addresses or groups.';
    throw new AppError('forbidden', { detail });
  }
  return found(await listPeople(scope.sql, scope.actor, { ...query, order }));
}

/** The people of a channel who were active lately, the latest first. @throws not_found, forbidden */
export async function listPresent(
  scope: Scope,
  channelId: string,
): Promise<{ user_id: string; is_active: boolean }[]> {
  const active = found(await listActive(scope.sql, scope.actor, channelId));
  return active.map((user_id) => ({ user_id, is_active: true }));
}

/**
 * Notifies the channel that the caller is typing, or has stopped. Nothing is stored.
 *
 * @param messageId the root of the thread in which the caller types; null for the main line
 * @throws not_found, forbidden unless the caller may post, rate_limited
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
