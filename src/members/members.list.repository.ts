import { grantees } from '../access/access.repository.ts';
import { CAN_READ, HAS_MEMBERS } from '../channelbase/channels.policy.ts';
import { ACCOUNT, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { onReplica, type Sql, statement } from '../database/sql.ts';
import { IS_ACTIVE } from '../users/users.repository.ts';
import type { MemberOrdering, MemberView } from './members.schema.ts';

/** SQL for whether the account `u` may read the standard channel `c`, whose id is `channelId`. */
export const READS_STANDARD = `u.role <> 'pending'
  and (u.role = 'admin' or u.id = c.user_id or ${grantees('channel', ':channelId::uuid::text', ACCOUNT)})`;

const OF_ACCOUNT =
  'u.id, u.name, u.username, u.email, u.role, u.created_at, u.updated_at, u.last_active_at, u.ordinal';

/**
 * SQL for the readers of the channel `c`, whose id is `channelId`: accounts `u` with `channel_role` and
 * `joined_at`.
 */
const PEOPLE = `(
  select ${OF_ACCOUNT}, cm.role as channel_role, cm.joined_at
    from channel_member cm join users u on u.id = cm.user_id where cm.channel_id = :channelId and ${HAS_MEMBERS}
   union all
  select ${OF_ACCOUNT}, null, null
    from users u where not coalesce(${HAS_MEMBERS}, false) and ${READS_STANDARD})`;

const PAGE_SIZE = 30;

type Column = MemberOrdering['column'];
const COLUMNS: Record<Column, string> = {
  name: 'lower(u.name)',
  email: 'u.email',
  role: 'u.role',
  created_at: 'u.ordinal',
  updated_at: 'u.updated_at',
  last_active_at: 'u.last_active_at',
  joined_at: 'u.joined_at',
  group: 'exists (select from group_member gm where gm.group_id = :groupId and gm.user_id = u.id)',
};

/** SQL for the members of a `MemberView`, from a row `u` of `PEOPLE`. */
const VIEW = `u.id, u.name, u.username, u.role, '/api/v1/users/' || u.id || '/profile/image' as profile_image_url,
  ${IS_ACTIVE} as is_active, u.created_at, u.updated_at, u.last_active_at,
  case when :callerIsAdmin or u.id = :callerId then u.email else '' end as email,
  u.channel_role, u.joined_at::float8 as joined_at`;

interface ListParams extends CallerParams {
  channelId: string;
  /** In lower case. */
  wanted: string | null;
  skip: number;
  /** Only for the order by a group. */
  groupId: string | null;
}

/** The id is null in the one row of an empty page. */
type PageRow = { can_read: boolean; total: number } & (MemberView | { id: null });

const list = (column: Column, direction: 'asc' | 'desc') => {
  const by = `${COLUMNS[column]} ${direction} nulls last, ${column === 'group' ? 'lower(u.name), ' : ''}u.ordinal`;
  return onReplica(
    statement<PageRow, ListParams>(
      `member.list.${column}.${direction}`,
      `with target as (select c.*, (${CAN_READ}) as can_read from channel c where c.id = :channelId),
     matching as (
       select u.* from target c cross join lateral ${PEOPLE} u
        where c.can_read and (:wanted::text is null or position(:wanted in lower(u.name)) > 0
          or position(:wanted in lower(coalesce(u.username, ''))) > 0)
     ), page as (select * from matching u order by ${by} limit ${PAGE_SIZE} offset :skip)
     select t.can_read, n.total, ${VIEW}
       from target t cross join (select count(*)::int as total from matching) n left join page u on true order by ${by}`,
    ),
  );
};
const both = (column: Column) => ({ asc: list(column, 'asc'), desc: list(column, 'desc') });
const LISTS: Record<Column, ReturnType<typeof both>> = {
  name: both('name'),
  email: both('email'),
  role: both('role'),
  created_at: both('created_at'),
  updated_at: both('updated_at'),
  last_active_at: both('last_active_at'),
  joined_at: both('joined_at'),
  group: both('group'),
};

export interface MemberQuery {
  id: string;
  /** A part of the name or user name, in any case. */
  query?: string | undefined;
  order: MemberOrdering;
  direction: 'asc' | 'desc';
  page: number;
}

/**
 * The people of a channel, 30 a page: its members, or in a standard channel its readers.
 *
 * @returns undefined if the channel does not exist, null if the caller may not read it
 */
export async function listPeople(
  sql: Sql,
  caller: Caller,
  { id, query, order, direction, page }: MemberQuery,
): Promise<{ users: MemberView[]; total: number } | null | undefined> {
  const rows = await sql.rows(LISTS[order.column][direction], {
    ...callerOf(caller),
    channelId: id,
    wanted: query?.toLowerCase() || null,
    skip: (page - 1) * PAGE_SIZE,
    groupId: order.column === 'group' ? order.groupId : null,
  });
  const [first] = rows;
  if (!first) return undefined;
  if (!first.can_read) return null;
  return {
    users: rows.flatMap(({ can_read: _, total: __, ...user }) => (user.id === null ? [] : user)),
    total: first.total,
  };
}

/** More people than a client shows at once. */
const MAX_ACTIVE = 1000;

const ACTIVE = statement<{ can_read: boolean; active: string[] }, CallerParams & { channelId: string }>(
  'member.active',
  `select c.can_read, array(
       select u.id from ${PEOPLE} u where c.can_read and ${IS_ACTIVE}
        order by u.last_active_at desc limit ${MAX_ACTIVE}) as active
     from (select c.*, (${CAN_READ}) as can_read from channel c where c.id = :channelId) c`,
);

/**
 * The ids of the people of a channel who were active within the last three minutes, the latest first.
 *
 * @returns undefined if the channel does not exist, null if the caller may not read it
 */
export async function listActive(
  sql: Sql,
  caller: Caller,
  channelId: string,
): Promise<string[] | null | undefined> {
  const [row] = await sql.rows(ACTIVE, { ...callerOf(caller), channelId });
  return row && (row.can_read ? row.active : null);
}
