import { grantedIds, grantsOf, holdsGrant } from '../access/access.repository.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { ChannelBrief, ChannelView } from './channels.schema.ts';

/** SQL for a channel's record, from a row called `c`. */
const BRIEF = `c.id, c.user_id, c.type, c.name, c.description, c.is_private, c.data, c.meta,
  c.created_at::float8 as created_at, c.updated_at::float8 as updated_at, c.updated_by`;

/**
 * SQL conditions on a row `c`; `$1` is the caller's id, `$2` whether they are an administrator. Who may write may read. A
 * right to read, given to everyone, gives nobody a right to write.
 */
const IS_MANAGER = '($2 or c.user_id = $1)';
export const CAN_WRITE = `(${IS_MANAGER} or ${holdsGrant('channel', 'c.id::text', 'write', '$1::text')})`;
export const CAN_READ = `(${IS_MANAGER} or ${holdsGrant('channel', 'c.id::text', 'read', '$1::text')})`;

export interface ChannelAccess extends ChannelBrief {
  can_read: boolean;
  can_write: boolean;
  is_manager: boolean;
}

const ACCESS = statement<ChannelAccess>(
  'channel.access',
  `select ${BRIEF}, ${CAN_READ} as can_read, ${CAN_WRITE} as can_write, ${IS_MANAGER} as is_manager
     from channel c where c.id = $3`,
);

const VIEW = `${BRIEF}, c.last_message_at::float8 as last_message_at,
  ${CAN_WRITE} as write_access, ${IS_MANAGER} as is_manager,
  case when ${CAN_WRITE} then ${grantsOf('channel', 'c.id::text')} else '[]'::json end as access_grants`;

const GET = statement<ChannelView>(
  'channel.get',
  `select ${VIEW} from channel c where c.id = $3 and ${CAN_READ}`,
);

const OWN_AND_GRANTED = `(c.user_id = $1 or c.id in (select granted::uuid from (${grantedIds('channel', '$1::text')}) as g (granted)))`;

const LIST_OWN = statement<ChannelView>(
  'channel.list_own',
  `select ${VIEW} from channel c where ${OWN_AND_GRANTED}
    order by c.last_message_at desc nulls last, c.created_at desc`,
);
const LIST_ALL = statement<ChannelView>(
  'channel.list_all',
  `select ${VIEW} from channel c where $2 or ${OWN_AND_GRANTED} order by c.created_at desc`,
);

/** The ids of those channels that the caller may read: of all, or of the given ones. */
const READABLE = statement<{ id: string; last_event: number }>(
  'channel.readable',
  `select c.id, c.last_event::float8 as last_event from channel c
    where ($3::uuid[] is null or c.id = any($3)) and ${CAN_READ}`,
);

export interface Caller {
  id: string;
  role: string;
}
const callerOf = ({ id, role }: Caller) => [id, role === 'admin'] as const;

/** A channel with what the caller may do in it; undefined when there is none. */
export async function readAccess(
  sql: Sql,
  caller: Caller,
  channelId: string,
): Promise<ChannelAccess | undefined> {
  const [row] = await sql.rows(ACCESS, [...callerOf(caller), channelId]);
  return row;
}

export async function readChannel(
  sql: Sql,
  caller: Caller,
  channelId: string,
): Promise<ChannelView | undefined> {
  const [row] = await sql.rows(GET, [...callerOf(caller), channelId]);
  return row;
}

/** The caller's own channels and those granted to them, the liveliest first. */
export const listOwnChannels = (sql: Sql, caller: Caller): Promise<ChannelView[]> =>
  sql.rows(LIST_OWN, callerOf(caller));

/** The same, and every channel for administrators. */
export const listAllChannels = (sql: Sql, caller: Caller): Promise<ChannelView[]> =>
  sql.rows(LIST_ALL, callerOf(caller));

/** Which channels the caller may read, with the number of their newest event. Administrators only get all when asked. */
export const listReadable = (
  sql: Sql,
  caller: Caller,
  channelIds: string[] | null,
): Promise<{ id: string; last_event: number }[]> => sql.rows(READABLE, [...callerOf(caller), channelIds]);
