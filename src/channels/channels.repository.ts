import { grantedIds, holdsGrant } from '../access/access.repository.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { ChannelBrief } from './channels.schema.ts';

/** SQL for a channel's record, from a row called `c`. */
export const BRIEF = `c.id, c.user_id, c.type, c.name, c.description, c.is_private, c.data, c.meta,
  c.created_at::float8 as created_at, c.updated_at::float8 as updated_at, c.updated_by`;

/** The next moment of a channel's clock: now, or just after the last one. Whole microseconds, in nanoseconds. */
export const NEXT_MOMENT =
  'greatest(last_event_at + 1000, (extract(epoch from now()) * 1000000)::bigint * 1000)';

/*
 * SQL conditions on a row `c`, for a user's id and whether they are an administrator, both SQL expressions. Standard channels go by
 * grants: who may write may read, and a right to read, given to everyone, gives nobody a right to write. Group and direct channels
 * go by membership alone: not even an administrator reads what is none of theirs, though they may manage a group.
 */
export const HAS_MEMBERS = "c.type in ('group', 'dm')";
const isMember = (user: string, role = '') =>
  `exists (select from channel_member cm where cm.channel_id = c.id and cm.user_id = ${user}${role})`;
const isManager = (user: string, isAdmin: string) =>
  `case when ${HAS_MEMBERS} then c.type = 'group' and (${isAdmin} or ${isMember(user, " and cm.role = 'manager'")})
     else ${isAdmin} or c.user_id = ${user} end`;
export const can = (right: 'read' | 'write', user: string, isAdmin: string) =>
  `case when ${HAS_MEMBERS} then ${isMember(user)}
     else ${isAdmin} or c.user_id = ${user} or ${holdsGrant('channel', 'c.id::text', right, `${user}::text`)} end`;
/** Whether they may edit and delete what others wrote. */
const canModerate = (user: string, isAdmin: string) =>
  `case when ${HAS_MEMBERS} then ${isMember(user, ` and (${isAdmin} or cm.role = 'manager')`)}
     else ${can('write', user, isAdmin)} end`;

/** For statements whose `$1` is the caller's id and `$2` whether they are an administrator. */
export const IS_MANAGER = isManager('$1', '$2');
export const CAN_WRITE = can('write', '$1', '$2');
const CAN_MODERATE = canModerate('$1', '$2');
export const CAN_READ = can('read', '$1', '$2');

/**
 * SQL for a condition on the row `c`: one that the caller (`$1`) has to do with, so that it makes sense to ask what they may do. These
 * are found from the caller's side, by indexes: of all channels that there are, hardly any are theirs.
 *
 * @param isAdmin SQL for whether every standard channel counts
 */
export const inReach = (isAdmin: string) => `c.id in (
  select channel_id from channel_member where user_id = $1
   union select id from channel where type is null and (${isAdmin} or user_id = $1)
   union select granted::uuid from (${grantedIds('channel', '$1::text')}) as g (granted))`;
/** SQL for those of all channels that the caller may read. */
export const READABLE_OF_ALL = `${inReach('$2')} and ${CAN_READ}`;

export interface ChannelAccess extends ChannelBrief {
  can_read: boolean;
  can_write: boolean;
  /** Whether the caller may edit and delete what others wrote. */
  can_moderate: boolean;
  is_manager: boolean;
}

const ACCESS = statement<ChannelAccess>(
  'channel.access',
  `select ${BRIEF}, ${CAN_READ} as can_read, ${CAN_WRITE} as can_write,
     ${CAN_MODERATE} as can_moderate, ${IS_MANAGER} as is_manager
     from channel c where c.id = $3`,
);

const READABLE = statement<{ id: string }>(
  'channel.readable',
  `select c.id from channel c where ($3::uuid[] is null or c.id = any($3)) and ${READABLE_OF_ALL}`,
);

const READERS = statement<{ id: string }>(
  'channel.readers',
  `select u.id from channel c join users u on u.id = any($2::uuid[])
    where c.id = $1 and u.role <> 'pending' and ${can('read', 'u.id', "u.role = 'admin'")}`,
);

export interface Caller {
  id: string;
  role: string;
}
export const callerOf = ({ id, role }: Caller) => [id, role === 'admin'] as const;

/** A channel with what the caller may do in it; undefined when there is none. */
export async function readAccess(
  sql: Sql,
  caller: Caller,
  channelId: string,
): Promise<ChannelAccess | undefined> {
  const [row] = await sql.rows(ACCESS, [...callerOf(caller), channelId]);
  return row;
}

/** The ids of the channels that the caller may read: among the given ones, or of all. */
export async function listReadable(sql: Sql, caller: Caller, among: string[] | null): Promise<string[]> {
  const rows = await sql.rows(READABLE, [...callerOf(caller), among]);
  return rows.map(({ id }) => id);
}

/** Those of the given users who may read a channel. */
export async function listReaders(sql: Sql, channelId: string, among: string[]): Promise<string[]> {
  const rows = await sql.rows(READERS, [channelId, among]);
  return rows.map(({ id }) => id);
}
