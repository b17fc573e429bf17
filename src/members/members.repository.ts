import { NOW } from '../channelbase/channels.access.repository.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { MembershipView } from './members.schema.ts';

const MEMBERSHIP = `channel_id || ':' || user_id as id, channel_id, user_id, 'joined' as status, role, invited_by,
  joined_at::float8 as joined_at`;

const ADD = statement<
  MembershipView,
  { channelId: string; userIds: string[]; manager: string | null; invitedBy: string }
>(
  'member.add',
  `insert into channel_member (channel_id, user_id, role, invited_by, joined_at)
   select :channelId, id, case when id = :manager then 'manager' end, :invitedBy, ${NOW} from unnest(:userIds::uuid[]) as people (id) order by id
   on conflict do nothing returning ${MEMBERSHIP}`,
);

/** Adds members; existing members stay unchanged. @returns the new members */
export const addMembers = (
  sql: Sql,
  channelId: string,
  userIds: string[],
  { manager, invitedBy }: { manager: string | null; invitedBy: string },
): Promise<MembershipView[]> => sql.rows(ADD, { channelId, userIds, manager, invitedBy });

/*
 * Statements of changes to the members of groups. `LOCK` comes first: members and managers change only under
 * the lock of the channel.
 */
export const LOCK = statement<{ id: string }, { channelId: string }>(
  'member.lock',
  'select id from channel where id = :channelId for update',
);

export const MANAGERS = statement<{ managers: number }, { channelId: string }>(
  'member.managers',
  `select count(*)::int as managers from channel_member where channel_id = :channelId and role = 'manager'`,
);

/** The people, among the given ones, who are not members, and the number of members. */
export const NOT_YET = statement<
  { fresh: string[]; members: number },
  { channelId: string; userIds: string[] }
>(
  'member.not_yet',
  `select (select count(*)::int from channel_member where channel_id = :channelId) as members,
          array(select asked.id from unnest(:userIds::uuid[]) as asked (id) where not exists (
            select from channel_member m where m.channel_id = :channelId and m.user_id = asked.id)) as fresh`,
);

export const REMOVE = statement<{ user_id: string }, { channelId: string; userIds: string[] }>(
  'member.remove',
  'delete from channel_member where channel_id = :channelId and user_id = any(:userIds::uuid[]) returning user_id',
);

/** Makes the longest member a manager, in each given group without managers; `exceptUserId` is not chosen. */
export const PASS_ON = statement<
  { channel_id: string; user_id: string },
  { channelIds: string[]; exceptUserId: string | null }
>(
  'member.pass_on',
  `update channel_member m set role = 'manager' from (
     select distinct on (cm.channel_id) cm.channel_id, cm.user_id
       from channel c join channel_member cm on cm.channel_id = c.id join users u on u.id = cm.user_id
      where c.id = any(:channelIds::uuid[]) and c.type = 'group' and cm.user_id is distinct from :exceptUserId::uuid
        and not exists (select from channel_member x where x.channel_id = c.id and x.role = 'manager')
      order by cm.channel_id, (u.role = 'pending'), cm.joined_at, cm.user_id) heir
    where m.channel_id = heir.channel_id and m.user_id = heir.user_id returning m.channel_id, m.user_id`,
);

/** Deletes channels without members: no one could find them again. */
export const DELETE_EMPTY = statement<
  { id: string; name: string; type: 'group' | 'dm' },
  { channelIds: string[] }
>(
  'member.delete_empty',
  `delete from channel c where c.id = any(:channelIds::uuid[]) and c.type in ('group', 'dm')
      and not exists (select from channel_member m where m.channel_id = c.id) returning c.id, c.name, c.type`,
);

export const SET_ROLE = statement<
  { was: string | null },
  { channelId: string; userId: string; role: string | null }
>(
  'member.set_role',
  `update channel_member m set role = :role from channel_member before
    where m.channel_id = :channelId and m.user_id = :userId and before.channel_id = :channelId and before.user_id = :userId
    returning before.role as was`,
);

export const MEMBERSHIP_OF = statement<MembershipView, { channelId: string; userId: string }>(
  'member.get',
  `select ${MEMBERSHIP} from channel_member where channel_id = :channelId and user_id = :userId`,
);

/** Statements for the deletion of an account. */
export const LOCK_CHANNELS_OF = statement<{ id: string }, { userId: string }>(
  'member.lock_all',
  `select c.id from channel c join channel_member m on m.channel_id = c.id and m.user_id = :userId
    order by c.id for update of c`,
);
export const LOCK_USER = statement<never, { userId: string }>(
  'member.lock_user',
  'select from users where id = :userId for update',
);
export const REMOVE_EVERYWHERE = statement<{ channel_id: string }, { userId: string }>(
  'member.remove_everywhere',
  'delete from channel_member where user_id = :userId returning channel_id',
);

export const MISSING = statement<{ id: string }, { userIds: string[] }>(
  'member.missing',
  'select id from unnest(:userIds::uuid[]) as asked (id) where not exists (select from users u where u.id = asked.id)',
);
