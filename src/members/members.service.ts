import { record } from '../audit/audit.record.ts';
import { type ChannelAccess, readAccess } from '../channelbase/channels.access.repository.ts';
import { noSuchChannel } from '../channelbase/channels.access.service.ts';
import {
  briefOf,
  publishHappening,
  publishNotice,
  type RecordedHappening,
  recordHappening,
} from '../channelbase/channels.changes.ts';
import { AppError } from '../core/errors.ts';
import type { ActingScope, Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { refuseVanished, resolvePeople, tooManyMembers } from './members.people.ts';
import {
  addMembers,
  DELETE_EMPTY,
  LOCK,
  LOCK_CHANNELS_OF,
  LOCK_USER,
  MANAGERS,
  MEMBERSHIP_OF,
  NOT_YET,
  PASS_ON,
  REMOVE,
  REMOVE_EVERYWHERE,
  SET_ROLE,
} from './members.repository.ts';
import { MAX_MEMBERS, type MembershipView } from './members.schema.ts';

/**
 * The group, if the caller has the right. Administrators may manage groups that they cannot read.
 *
 * @throws not_found, forbidden, bad_request for a channel of another type
 */
async function requireGroup(scope: Scope, id: string, right: 'read' | 'manage'): Promise<ChannelAccess> {
  const channel = await readAccess(scope.sql, scope.actor, id);
  if (!channel) throw noSuchChannel();
  if (!channel.can_read && !(right === 'manage' && channel.is_manager)) throw new AppError('forbidden');
  if (channel.type === null) {
    throw new AppError('bad_request', {
      detail: 'A standard channel has no members: change its access grants.',
    });
  }
  if (channel.type === 'dm') {
    throw new AppError('bad_request', {
      detail: 'The people of a direct channel stay the same: make a group, or hide the channel.',
    });
  }
  if (right === 'manage' && !channel.is_manager) throw new AppError('forbidden');
  return channel;
}

/** Locks the members of a group for a change. @throws not_found */
async function lockMembers(sql: Sql, channelId: string): Promise<void> {
  const locked = await sql.rows(LOCK, { channelId });
  if (locked.length === 0) throw noSuchChannel();
}

export interface Invitation {
  id: string;
  user_ids: string[];
  group_ids: string[];
}

/**
 * Adds members to a group; existing members stay unchanged.
 *
 * @returns the new memberships
 * @throws not_found, forbidden, bad_request for people who do not exist or are too many
 */
export async function inviteMembers(scope: Scope, invitation: Invitation): Promise<MembershipView[]> {
  const { id } = invitation;
  await requireGroup(scope, id, 'manage');
  const asked = await resolvePeople(scope, invitation);
  const { added, recorded } = await transaction(scope, async (tx) => {
    await lockMembers(tx, id);
    const [found] = await tx.rows(NOT_YET, { channelId: id, userIds: asked });
    const { fresh, members } = found ?? { fresh: [], members: 0 };
    if (fresh.length === 0) return { added: [], recorded: [] };
    if (members + fresh.length > MAX_MEMBERS) throw tooManyMembers();
    const added = await addMembers(tx, id, fresh, { manager: null, invitedBy: scope.actor.id });
    const target = { type: 'channel', id };
    await record(scope, tx, { action: 'channel.add', target, after: { user_ids: fresh } });
    const data = { user_ids: fresh };
    return {
      added,
      recorded: await recordHappening(scope, tx, [id], { type: 'channel:member:add', data }),
    };
  }).catch(refuseVanished);
  for (const happening of recorded) publishHappening(scope, happening, 'changed');
  return added;
}

/**
 * Removes members from a group. Other people are ignored.
 *
 * @returns the number of removed members
 * @throws not_found, forbidden
 */
export async function removeMembers(scope: Scope, id: string, userIds: string[]): Promise<number> {
  return withdraw(scope, await requireGroup(scope, id, 'manage'), userIds);
}

/** Leaves a group. The last member deletes it by leaving. @throws not_found, forbidden, bad_request */
export async function leaveChannel(scope: Scope, id: string): Promise<true> {
  await withdraw(scope, await requireGroup(scope, id, 'read'), [scope.actor.id]);
  return true;
}

/**
 * Gives each group without managers a new one, other than `exceptUserId`. @returns the number of these groups
 */
async function passOn(
  scope: ActingScope,
  sql: Sql,
  ids: string[],
  exceptUserId: string | null,
): Promise<number> {
  const heirs = await sql.rows(PASS_ON, { channelIds: ids, exceptUserId });
  const entries = heirs.map(({ channel_id, user_id }) => ({
    action: 'channel.role',
    target: { type: 'channel', id: channel_id },
    before: { user_id, role: null },
    after: { user_id, role: 'manager' },
  }));
  await record(scope, sql, ...entries);
  return heirs.length;
}

/** After members have left: deletes channels without members, and gives groups without managers a new one. */
async function settle(scope: ActingScope, sql: Sql, ids: string[]): Promise<void> {
  const deleted = await sql.rows(DELETE_EMPTY, { channelIds: ids });
  // Audit entries do not mention direct channels.
  const entries = deleted
    .filter(({ type }) => type !== 'dm')
    .map(({ id, name, type }) => ({
      action: 'channel.delete',
      target: { type: 'channel', id },
      before: { name, type },
    }));
  await record(scope, sql, ...entries);
  await passOn(scope, sql, ids, null);
}

/**
 * Removes members from a group. A group without managers gets its longest member as manager; a group without
 * members is deleted.
 */
async function withdraw(scope: Scope, channel: ChannelAccess, userIds: string[]): Promise<number> {
  const { id } = channel;
  const { removed, recorded } = await transaction(scope, async (tx) => {
    await lockMembers(tx, id);
    const removed = (await tx.rows(REMOVE, { channelId: id, userIds })).map(({ user_id }) => user_id);
    if (removed.length === 0) return { removed, recorded: [] };
    const target = { type: 'channel', id };
    const others = removed.filter((userId) => userId !== scope.actor.id);
    if (others.length > 0) {
      await record(scope, tx, { action: 'channel.remove', target, before: { user_ids: others } });
    }
    await settle(scope, tx, [id]);
    // No event if the group was deleted.
    const data = { user_ids: removed };
    const recorded = await recordHappening(scope, tx, [id], { type: 'channel:member:remove', data });
    return { removed, recorded };
  });
  if (removed.length === 0) return 0;
  for (const happening of recorded) publishHappening(scope, happening, 'changed');
  const brief = recorded[0]?.channel ?? briefOf(channel);
  publishNotice(scope, { userIds: removed }, brief, {
    type: 'channel:member:remove',
    data: { user_ids: removed },
  });
  if (recorded.length === 0) {
    publishNotice(scope, { userIds: removed }, brief, { type: 'channel:deleted', data: {} });
    scope.bus.publish('channel.access', { channelId: id, since: 0 });
  }
  return removed.length;
}

export interface RoleChange {
  id: string;
  user_id: string;
  role: 'manager' | 'member';
}

/**
 * Makes a member a manager of a group, or a normal member again. If the group then has no manager, its
 * longest other member becomes one.
 *
 * @throws not_found also if the person is not a member, forbidden, bad_request for the only member
 */
export async function setMemberRole(
  scope: Scope,
  { id, user_id, role }: RoleChange,
): Promise<MembershipView> {
  await requireGroup(scope, id, 'manage');
  const stored = role === 'manager' ? role : null;
  const { membership, recorded } = await transaction(scope, async (tx) => {
    await lockMembers(tx, id);
    const [set] = await tx.rows(SET_ROLE, { channelId: id, userId: user_id, role: stored });
    if (!set) throw new AppError('not_found', { detail: 'There is no such member in this channel.' });
    const [{ managers } = { managers: 0 }] = await tx.rows(MANAGERS, { channelId: id });
    if (managers === 0 && (await passOn(scope, tx, [id], user_id)) === 0) {
      throw new AppError('bad_request', { detail: 'A group needs at least one manager.' });
    }
    const [membership] = await tx.rows(MEMBERSHIP_OF, { channelId: id, userId: user_id });
    if (!membership) throw noSuchChannel();
    if (set.was === stored) return { membership, recorded: [] };
    await record(scope, tx, {
      action: 'channel.role',
      target: { type: 'channel', id },
      before: { user_id, role: set.was },
      after: { user_id, role: stored },
    });
    const recorded = await recordHappening(scope, tx, [id], { type: 'channel:updated', data: {} });
    return { membership, recorded };
  });
  for (const happening of recorded) publishHappening(scope, happening, 'same');
  return membership;
}

/**
 * Removes a person from all groups and direct channels, in the transaction that deletes the account and
 * before its row is deleted. Groups without managers get a new one, and channels without members are deleted.
 *
 * @returns the function that publishes the events, for after the commit
 */
export async function withdrawEverywhere(scope: ActingScope, sql: Sql, userId: string): Promise<() => void> {
  // Locks the channels before the account, as every change of members does. After the account is locked, it
  // cannot be added to a channel; the second look finds the channels that added it meanwhile.
  await sql.rows(LOCK_CHANNELS_OF, { userId });
  await sql.rows(LOCK_USER, { userId });
  await sql.rows(LOCK_CHANNELS_OF, { userId });
  const left = (await sql.rows(REMOVE_EVERYWHERE, { userId })).map(({ channel_id }) => channel_id);
  let recorded: RecordedHappening[] = [];
  if (left.length > 0) {
    await settle(scope, sql, left);
    const data = { user_ids: [userId] };
    recorded = await recordHappening(scope, sql, left, { type: 'channel:member:remove', data });
  }
  return () => {
    for (const happening of recorded) publishHappening(scope, happening, 'changed');
  };
}
