import { type Sql, statement } from '../database/sql.ts';
import type { Source } from './groups.schema.ts';

const ADD = statement<
  { user_id: string },
  { groupId: string; userIds: readonly string[]; source: Source; at: number }
>(
  'group_member.add',
  `insert into group_member (group_id, user_id, source, created_at)
   select :groupId, u.id, :source, :at from users u where u.id = any(:userIds::uuid[]) order by u.id
   on conflict do nothing returning user_id`,
);

/**
 * Adds people to a group, for one source. Ids without an account are left out. @returns the people who were
 * not in the group by this source
 */
export async function addMembers(
  sql: Sql,
  groupId: string,
  userIds: readonly string[],
  { source, at }: { source: Source; at: number },
): Promise<string[]> {
  const rows = await sql.rows(ADD, { groupId, userIds, source, at });
  return rows.map(({ user_id }) => user_id);
}

const REMOVE = statement<{ user_id: string }, { groupId: string; userIds: readonly string[] }>(
  'group_member.remove',
  'delete from group_member where group_id = :groupId and user_id = any(:userIds::uuid[]) returning user_id',
);

/** Removes people from a group, for all sources. @returns the people who were in it */
export async function removeMembers(
  sql: Sql,
  groupId: string,
  userIds: readonly string[],
): Promise<string[]> {
  const rows = await sql.rows(REMOVE, { groupId, userIds });
  return [...new Set(rows.map(({ user_id }) => user_id))];
}

const JOIN = statement<never, { groupId: string; userId: string; at: number }>(
  'group_member.join',
  `insert into group_member (group_id, user_id, source, created_at)
   select g.id, :userId::uuid, 'manual', :at from user_group g where g.id = :groupId on conflict do nothing`,
);

/** Adds a new account to a group, if the group exists. */
export async function joinGroup(sql: Sql, groupId: string, userId: string, at: number): Promise<void> {
  await sql.rows(JOIN, { groupId: groupId.toLowerCase(), userId, at });
}

/* Statements of a sign-in whose provider names the groups of the person. */
export const LOCK_PERSON = statement<{ id: string }, { userId: string }>(
  'group_member.lock_person',
  'select id from users where id = :userId for update',
);
export const CREATE_NAMED = statement<
  { id: string; name: string },
  { userId: string; names: string[]; at: number }
>(
  'group_member.create_named',
  `insert into user_group (id, user_id, name, description, created_at, updated_at)
   select gen_random_uuid()::text, :userId, named.name, '', :at::int, :at::int from unnest(:names::text[]) as named (name)
    order by named.name on conflict (name) do nothing returning id, name`,
);
export const LEAVE_OTHERS = statement<
  { group_id: string },
  { userId: string; source: Source; names: string[] }
>(
  'group_member.leave_others',
  `delete from group_member gm using user_group g
    where gm.user_id = :userId and gm.source = :source and g.id = gm.group_id and g.name <> all(:names::text[])
   returning gm.group_id`,
);
export const JOIN_NAMED = statement<
  { group_id: string },
  { userId: string; source: Source; names: string[]; at: number }
>(
  'group_member.join_named',
  `insert into group_member (group_id, user_id, source, created_at)
   select g.id, :userId::uuid, :source, :at from user_group g where g.name = any(:names::text[]) order by g.id
   on conflict do nothing returning group_id`,
);
