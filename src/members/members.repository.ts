import { type Sql, statement } from '../database/sql.ts';
import type { MembershipView } from './members.schema.ts';

/** SQL for now as a channel's time: whole microseconds, in nanoseconds. */
export const NOW = '((extract(epoch from now()) * 1000000)::bigint * 1000)';

const MEMBERSHIP = `channel_id || ':' || user_id as id, channel_id, user_id, 'joined' as status, role, invited_by,
  joined_at::float8 as joined_at`;

const ADD = statement<MembershipView>(
  'member.add',
  `insert into channel_member (channel_id, user_id, role, invited_by, joined_at)
   select $1, id, case when id = $3 then 'manager' end, $4, ${NOW} from unnest($2::uuid[]) as people (id) order by id
   on conflict do nothing returning ${MEMBERSHIP}`,
);

/** Makes people members; those who are already stay as they are. @returns the new ones */
export const addMembers = (
  sql: Sql,
  channelId: string,
  userIds: string[],
  { manager, invitedBy }: { manager: string | null; invitedBy: string },
): Promise<MembershipView[]> => sql.rows(ADD, [channelId, userIds, manager, invitedBy]);

/*
 * Statements of a change to the members of groups. `LOCK` comes first: who belongs to a channel, and who is in charge, is decided
 * under its row's lock.
 */
export const LOCK = statement<{ id: string }>(
  'member.lock',
  'select id from channel where id = $1 for update',
);

export const MANAGERS = statement<{ managers: number }>(
  'member.managers',
  `select count(*)::int as managers from channel_member where channel_id = $1 and role = 'manager'`,
);

/** Who of some people is not in a channel, and how many are. */
export const NOT_YET = statement<{ fresh: string[]; members: number }>(
  'member.not_yet',
  `select (select count(*)::int from channel_member where channel_id = $1) as members,
          array(select asked.id from unnest($2::uuid[]) as asked (id) where not exists (
            select from channel_member m where m.channel_id = $1 and m.user_id = asked.id)) as fresh`,
);

export const REMOVE = statement<{ user_id: string }>(
  'member.remove',
  'delete from channel_member where channel_id = $1 and user_id = any($2::uuid[]) returning user_id',
);

/** In every group among the channels that has nobody in charge, the longest member is. `$2` does not come into question. */
export const PASS_ON = statement<{ channel_id: string; user_id: string }>(
  'member.pass_on',
  `update channel_member m set role = 'manager' from (
     select distinct on (cm.channel_id) cm.channel_id, cm.user_id
       from channel c join channel_member cm on cm.channel_id = c.id join users u on u.id = cm.user_id
      where c.id = any($1::uuid[]) and c.type = 'group' and cm.user_id is distinct from $2::uuid
        and not exists (select from channel_member x where x.channel_id = c.id and x.role = 'manager')
      order by cm.channel_id, (u.role = 'pending'), cm.joined_at, cm.user_id) heir
    where m.channel_id = heir.channel_id and m.user_id = heir.user_id returning m.channel_id, m.user_id`,
);

/** Nobody could ever find them again. */
export const DELETE_EMPTY = statement<{ id: string; name: string; type: 'group' | 'dm' }>(
  'member.delete_empty',
  `delete from channel c where c.id = any($1::uuid[]) and c.type in ('group', 'dm')
      and not exists (select from channel_member m where m.channel_id = c.id) returning c.id, c.name, c.type`,
);

export const SET_ROLE = statement<{ was: string | null }>(
  'member.set_role',
  `update channel_member m set role = $3 from channel_member before
    where m.channel_id = $1 and m.user_id = $2 and before.channel_id = $1 and before.user_id = $2
    returning before.role as was`,
);

export const MEMBERSHIP_OF = statement<MembershipView>(
  'member.get',
  `select ${MEMBERSHIP} from channel_member where channel_id = $1 and user_id = $2`,
);

/** Statements of the end of an account. */
export const LOCK_CHANNELS_OF = statement<{ id: string }>(
  'member.lock_all',
  `select c.id from channel c join channel_member m on m.channel_id = c.id and m.user_id = $1
    order by c.id for update of c`,
);
export const LOCK_USER = statement('member.lock_user', 'select from users where id = $1 for update');
export const REMOVE_EVERYWHERE = statement<{ channel_id: string }>(
  'member.remove_everywhere',
  'delete from channel_member where user_id = $1 returning channel_id',
);

export const MISSING = statement<{ id: string }>(
  'member.missing',
  'select id from unnest($1::uuid[]) as asked (id) where not exists (select from users u where u.id = asked.id)',
);
