import { grantsOf } from '../access/access.repository.ts';
import { BRIEF } from '../channelbase/channels.access.repository.ts';
import {
  CAN_READ,
  CAN_WRITE,
  HAS_MEMBERS,
  IS_MANAGER,
  OWN_CHANNELS,
} from '../channelbase/channels.policy.ts';
import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import { READS_STANDARD } from '../members/members.list.repository.ts';
import { COUNTS, IS_LISTED, IS_OWN, READER } from '../reads/reads.repository.ts';
import { IS_ACTIVE } from '../users/users.repository.ts';
import type { ChannelDetail, ChannelView } from './channels.schema.ts';

const VIEW = `${BRIEF}, c.last_message_at::float8 as last_message_at,
  w.may_write as write_access, ${IS_MANAGER} as is_manager,
  case when w.may_write then ${grantsOf('channel', 'c.id::text')} else '[]'::json end as access_grants,
  r.last_read_at::float8 as last_read_at, coalesce(r.notify, 'all') as notify,
  coalesce(r.notify, 'all') <> 'all' as is_channel_muted,
  coalesce(n.unread_count, 0) as unread_count, coalesce(n.mention_count, 0) as mention_count`;
/** What `VIEW` reads beside `c`. Without `offset`, PostgreSQL would ask for the right once for each use. */
const JOINS = `${READER} ${COUNTS} cross join lateral (select ${CAN_WRITE} as may_write offset 0) w`;
/** The same for the rows `own` of the caller's channels, which hold the answer. */
const OWN_JOINS = `join channel c on c.id = own.id ${READER} ${COUNTS}
  cross join lateral (select case when ${HAS_MEMBERS} then true else ${CALLER.isAdmin} or own.may_write end as may_write) w`;

/** SQL for the members of the channel `c`, if a condition holds. */
const members = (condition: string) => `left join lateral (
    select json_agg(u.id order by cm.joined_at, u.ordinal) as user_ids,
           json_agg(json_build_object('id', u.id, 'name', u.name, 'is_active', ${IS_ACTIVE})
             order by cm.joined_at, u.ordinal) as users
      from channel_member cm join users u on u.id = cm.user_id
     where ${condition} and cm.channel_id = c.id) people on true`;

/** SQL for the number of people who may read the channel `c`. */
const USER_COUNT = `case when ${HAS_MEMBERS} then (select count(*)::int from channel_member cm where cm.channel_id = c.id)
  else (select count(*)::int from users u where ${READS_STANDARD}) end`;

const get = (name: string, condition: string) =>
  statement<ChannelDetail, CallerParams & { channelId: string }>(
    name,
    `select ${VIEW}, people.user_ids, people.users, ${USER_COUNT} as user_count
       from channel c ${JOINS} ${members(`${HAS_MEMBERS} and ${CAN_READ}`)} where c.id = :channelId and (${condition})`,
  );
const GET = {
  read: get('channel.get', CAN_READ),
  // A manager who is not a member of the group does not get the list of members.
  manage: get('channel.get_managed', `(${CAN_READ}) or (${IS_MANAGER})`),
  // The change may have ended the caller's own right.
  changed: get('channel.get_changed', 'true'),
};

/** Groups and direct channels first, then by the newest message. */
const ORDER = '(c.type is null), c.last_message_at desc nulls last, c.created_at desc, c.id';

const list = (name: string, rows: string, condition: string) =>
  statement<ChannelView, CallerParams>(
    name,
    `select ${VIEW}, people.user_ids, people.users
       from ${rows} ${members("c.type = 'dm'")} where ${condition} order by ${ORDER}`,
  );
const OWN = `${OWN_CHANNELS} ${OWN_JOINS}`;
const LIST_OWN = list('channel.list_own', OWN, IS_LISTED);
const LIST_OWN_ALL = list('channel.list_own_all', OWN, IS_OWN);
// Only the members of a direct channel may know that it exists.
const LIST_EVERY = list(
  'channel.list_every',
  `channel c ${JOINS}`,
  "c.type is distinct from 'dm' or mine.user_id is not null",
);

/** A channel as the caller sees it; undefined if it does not exist or the caller does not have the right. */
export async function readChannel(
  sql: Sql,
  caller: Caller,
  channelId: string,
  right: keyof typeof GET,
): Promise<ChannelDetail | undefined> {
  const [row] = await sql.rows(GET[right], { ...callerOf(caller), channelId });
  return row;
}

/**
 * The channels that the caller is a member of, owns or has a grant for, without those that the caller has
 * hidden.
 */
export const listOwnChannels = (sql: Sql, caller: Caller): Promise<ChannelView[]> =>
  sql.rows(LIST_OWN, callerOf(caller));

/** The same with hidden channels; for administrators also all standard channels and groups. */
export const listAllChannels = (sql: Sql, caller: Caller): Promise<ChannelView[]> =>
  sql.rows(caller.role === 'admin' ? LIST_EVERY : LIST_OWN_ALL, callerOf(caller));
