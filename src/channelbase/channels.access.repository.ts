import { ACCOUNT, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { ChannelBrief } from './channels.brief.schema.ts';
import {
  CAN_MODERATE,
  CAN_READ,
  CAN_WRITE,
  channelAllows,
  IS_MANAGER,
  READABLE_OF_ALL,
} from './channels.policy.ts';

/** SQL for the columns of a `ChannelBrief`, from a row `c`. */
export const BRIEF = `c.id, c.user_id, c.type, c.name, c.description, c.is_private, c.data, c.meta,
  c.created_at::float8 as created_at, c.updated_at::float8 as updated_at, c.updated_by`;

/** SQL for the current time of a channel: nanoseconds, at whole microseconds. */
export const NOW = '((extract(epoch from now()) * 1000000)::bigint * 1000)';
/** SQL for the time of the next event: the current time, or just after the last event. */
export const NEXT_MOMENT = `greatest(last_event_at + 1000, ${NOW})`;

export interface ChannelAccess extends ChannelBrief {
  can_read: boolean;
  can_write: boolean;
  /** Whether the caller may edit and delete messages of others. */
  can_moderate: boolean;
  is_manager: boolean;
}

const ACCESS = statement<ChannelAccess, CallerParams & { channelId: string }>(
  'channel.access',
  `select ${BRIEF}, ${CAN_READ} as can_read, ${CAN_WRITE} as can_write,
     ${CAN_MODERATE} as can_moderate, ${IS_MANAGER} as is_manager
     from channel c where c.id = :channelId`,
);

const READABLE = statement<{ id: string }, CallerParams & { among: string[] | null }>(
  'channel.readable',
  `select c.id from channel c where (:among::uuid[] is null or c.id = any(:among)) and ${READABLE_OF_ALL}`,
);

const READERS = statement<{ id: string }, { channelId: string; among: string[] }>(
  'channel.readers',
  `select u.id from channel c join users u on u.id = any(:among::uuid[])
    where c.id = :channelId and u.role <> 'pending' and ${channelAllows('read', ACCOUNT)}`,
);

/** A channel with the rights of the caller; undefined if it does not exist. */
export async function readAccess(
  sql: Sql,
  caller: Caller,
  channelId: string,
): Promise<ChannelAccess | undefined> {
  const [row] = await sql.rows(ACCESS, { ...callerOf(caller), channelId });
  return row;
}

/** The ids of the channels that the caller may read, among the given channels or among all. */
export async function listReadable(sql: Sql, caller: Caller, among: string[] | null): Promise<string[]> {
  const rows = await sql.rows(READABLE, { ...callerOf(caller), among });
  return rows.map(({ id }) => id);
}

/** The users, among the given ones, who may read a channel. */
export async function listReaders(sql: Sql, channelId: string, among: string[]): Promise<string[]> {
  const rows = await sql.rows(READERS, { channelId, among });
  return rows.map(({ id }) => id);
}
