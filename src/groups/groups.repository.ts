import type { Permissions } from '../configs/settings/permissions.schema.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import {
  ANCESTORS,
  CAN_SEE,
  CAN_SHARE_WITH,
  CAN_SHARE_WITH_AS_MEMBER,
  groupsOf,
  IS_IN,
  peopleOf,
  SHARE,
} from './groups.policy.ts';
import type { GroupExport, GroupView, Membership } from './groups.schema.ts';

/** `data` with its default rule for sharing. */
const DATA = `coalesce(g.data, '{}') || jsonb_build_object('config',
  case when jsonb_typeof(g.data -> 'config') = 'object' then g.data -> 'config' else '{}' end
  || jsonb_build_object('share', coalesce(g.data #> '{config,share}', '"members"')))`;

const VIEW = `g.id, g.user_id, g.parent_group_id, g.name, g.description, ${DATA} as data, g.meta, g.permissions, g.created_at, g.updated_at,
  (select count(distinct gm.user_id)::int from group_member gm where gm.group_id = g.id) as member_count`;

const NEWEST_FIRST = 'order by g.updated_at desc, g.name';

const LIST = statement<GroupView, CallerParams & { share: boolean | null }>(
  'group.list',
  `select ${VIEW} from user_group g
    where :callerIsAdmin or case when :share::boolean is null then ${IS_IN}
                                 when :share then ${CAN_SHARE_WITH_AS_MEMBER}
                                 else ${SHARE} = 'false' and ${IS_IN} end ${NEWEST_FIRST}`,
);

/**
 * The groups that the caller is in, the last changed first; all groups for administrators.
 *
 * @param share true: the groups to which the caller may give rights; false: the caller's groups to which only
 *   administrators may give rights
 */
export const listGroups = (sql: Sql, caller: Caller, share: boolean | undefined): Promise<GroupView[]> =>
  sql.rows(LIST, { ...callerOf(caller), share: share ?? null });

const ADDED_TO = 'g.id in (select gm.group_id from group_member gm where gm.user_id = :userId::uuid)';

const OF_USER = statement<GroupView, { userId: string }>(
  'group.of_user',
  `select ${VIEW} from user_group g where ${ADDED_TO} ${NEWEST_FIRST}`,
);

/** The groups that a person was added to. */
export const listGroupsOf = (sql: Sql, userId: string): Promise<GroupView[]> => sql.rows(OF_USER, { userId });

const ALL_OF_USER = statement<Membership, { userId: string }>(
  'group.all_of_user',
  `select ${VIEW}, case when ${ADDED_TO} then 'direct' else 'inherited' end as membership_type
     from user_group g where g.id in (${groupsOf(':userId::uuid')}) ${NEWEST_FIRST}`,
);

/** The same with the groups above them. */
export const listAllGroupsOf = (sql: Sql, userId: string): Promise<Membership[]> =>
  sql.rows(ALL_OF_USER, { userId });

const GET = statement<GroupView, { id: string }>(
  'group.get',
  `select ${VIEW} from user_group g where g.id = :id`,
);

export async function findGroup(sql: Sql, id: string): Promise<GroupView | undefined> {
  const [row] = await sql.rows(GET, { id });
  return row;
}

const VISIBLE = statement<GroupView, CallerParams & { groupId: string }>(
  'group.visible',
  `select ${VIEW} from user_group g where g.id = :groupId and ${CAN_SEE}`,
);

/** A group that the caller is in or may give rights to. */
export async function findVisibleGroup(sql: Sql, caller: Caller, groupId: string) {
  const [row] = await sql.rows(VISIBLE, { ...callerOf(caller), groupId });
  return row;
}

const EXPORT = statement<GroupExport, { id: string }>(
  'group.export',
  `select ${VIEW}, coalesce(people.user_ids, '[]'::json) as user_ids, coalesce(people.members, '[]'::json) as members
     from user_group g left join lateral (
       select json_agg(user_id order by since, user_id) as user_ids,
              json_agg(json_build_object('user_id', user_id, 'sources', sources) order by since, user_id) as members
         from (select gm.user_id, min(gm.created_at) as since, json_agg(gm.source order by gm.source) as sources
                 from group_member gm where gm.group_id = g.id group by gm.user_id) each) people on true
    where g.id = :id`,
);

/** A group with all its members. */
export async function readExport(sql: Sql, id: string): Promise<GroupExport | undefined> {
  const [row] = await sql.rows(EXPORT, { id });
  return row;
}

const SHAREABLE = statement<{ id: string }, CallerParams & { among: string[] }>(
  'group.shareable',
  `select g.id from user_group g where g.id = any(:among::text[]) and ${CAN_SHARE_WITH}`,
);

/** The groups, among the given ones, to which the caller may give rights. */
export async function listShareable(sql: Sql, caller: Caller, among: string[]): Promise<string[]> {
  const rows = await sql.rows(SHAREABLE, { ...callerOf(caller), among });
  return rows.map((row) => row.id);
}

const PEOPLE = statement<{ user_id: string }, { groupIds: string[] }>(
  'group.people',
  `select distinct user_id from (${peopleOf('select unnest(:groupIds::text[])')}) p order by user_id`,
);

/** The ids of the people in some groups or in groups below them. */
export async function listPeopleOf(sql: Sql, groupIds: string[]): Promise<string[]> {
  const rows = await sql.rows(PEOPLE, { groupIds });
  return rows.map(({ user_id }) => user_id);
}

interface StoreParams {
  id: string;
  parentId: string | null;
  name: string;
  description: string;
  data: string | null;
  meta: string | null;
  permissions: string | null;
  at: number;
}
const INSERT = statement<{ id: string }, StoreParams & { userId: string }>(
  'group.insert',
  `insert into user_group (id, user_id, parent_group_id, name, description, data, meta, permissions, created_at, updated_at)
   values (:id, :userId, :parentId, :name, :description, :data::jsonb, :meta::jsonb, :permissions::jsonb, :at::int, :at::int)
   on conflict (name) do nothing returning id`,
);
const UPDATE = statement<never, StoreParams>(
  'group.update',
  `update user_group set parent_group_id = :parentId, name = :name, description = :description, data = :data::jsonb, meta = :meta::jsonb,
     permissions = :permissions::jsonb, updated_at = :at where id = :id`,
);
export const LOCK_GROUP = statement<{ id: string }, { id: string }>(
  'group.lock',
  'select id from user_group where id = :id for update',
);
export const DELETE_GROUP = statement<never, { id: string }>(
  'group.delete',
  'delete from user_group where id = :id',
);
export const DELETE_GRANTS_TO = statement<never, { id: string }>(
  'group.delete_grants',
  `delete from access_grant where principal_type = 'group' and principal_id = :id`,
);

/* The tree of groups. Its changes wait for each other, so that two of them together make no circle. */
export const LOCK_TREE = statement<never>(
  'group.lock_tree',
  'lock table group_ancestor in share row exclusive mode',
);

const PLACE = statement<{ is_there: boolean; is_below: boolean }, { groupId: string; parentId: string }>(
  'group.place',
  `select exists (select from user_group where id = :parentId) as is_there,
          :parentId::text = :groupId or exists (
            select from group_ancestor where group_id = :parentId and ancestor_id = :groupId) as is_below`,
);

/** Whether a group is there, and whether it is another group itself or below it. */
export async function readPlace(sql: Sql, groupId: string, parentId: string) {
  const [row] = await sql.rows(PLACE, { groupId, parentId });
  return row ?? { is_there: false, is_below: false };
}

const SUBTREE = statement<{ id: string }, { groupId: string }>(
  'group.subtree',
  `select :groupId::text as id union all select group_id from group_ancestor where ancestor_id = :groupId`,
);
const FORGET_ANCESTORS = statement<never, { groupIds: string[] }>(
  'group.forget_ancestors',
  'delete from group_ancestor where group_id = any(:groupIds::text[])',
);
const FIND_ANCESTORS = statement<never, { groupIds: string[] }>(
  'group.find_ancestors',
  `insert into group_ancestor (group_id, ancestor_id)
   with recursive above (group_id, ancestor_id) as (
     select id, parent_group_id from user_group where id = any(:groupIds::text[]) and parent_group_id is not null
      union
     select above.group_id, g.parent_group_id from above join user_group g on g.id = above.ancestor_id
      where g.parent_group_id is not null)
   select group_id, ancestor_id from above`,
);

/** Brings the ancestors of a group, and of the groups below it, up to date with its parent. */
export async function placeGroup(sql: Sql, groupId: string): Promise<void> {
  const groupIds = (await sql.rows(SUBTREE, { groupId })).map(({ id }) => id);
  await sql.rows(FORGET_ANCESTORS, { groupIds });
  await sql.rows(FIND_ANCESTORS, { groupIds });
}

/** Moves the groups directly below a group to its parent. Their other ancestors stay the same. */
export const PROMOTE_CHILDREN = statement<{ id: string }, { id: string; at: number }>(
  'group.promote_children',
  `update user_group child set parent_group_id = gone.parent_group_id, updated_at = :at
     from user_group gone where gone.id = :id and child.parent_group_id = gone.id returning child.id`,
);

/** The permissions of a group, and those of the groups above it. */
export type GroupPermissions = Pick<GroupView, 'name' | 'permissions'> & { inherited: Permissions[] };

const PERMISSIONS = statement<GroupPermissions, { groupId: string }>(
  'group.permissions',
  `select g.name, g.permissions, coalesce((select json_agg(a.permissions) from user_group a
       where a.id in (${ANCESTORS}) and a.permissions is not null), '[]'::json) as inherited
     from user_group g where g.id = :groupId`,
);

export async function readPermissions(sql: Sql, groupId: string): Promise<GroupPermissions | undefined> {
  const [row] = await sql.rows(PERMISSIONS, { groupId });
  return row;
}

export type StoredGroup = Pick<
  GroupView,
  'parent_group_id' | 'name' | 'description' | 'meta' | 'permissions'
> & {
  data: GroupView['data'] | null;
};

const text = (value: object | null) => value && JSON.stringify(value);
const written = ({ parent_group_id, name, description, data, meta, permissions }: StoredGroup) => ({
  parentId: parent_group_id,
  name,
  description,
  data: text(data),
  meta: text(meta),
  permissions: text(permissions),
});

/** @returns false when another group has the name */
export async function insertGroup(
  sql: Sql,
  id: string,
  userId: string,
  group: StoredGroup,
  at: number,
): Promise<boolean> {
  const rows = await sql.rows(INSERT, { id, userId, ...written(group), at });
  return rows.length > 0;
}

export async function storeGroup(sql: Sql, id: string, group: StoredGroup, at: number): Promise<void> {
  await sql.rows(UPDATE, { id, ...written(group), at });
}
