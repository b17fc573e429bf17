import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import { CAN_SEE, CAN_SHARE_WITH, CAN_SHARE_WITH_AS_MEMBER, IS_IN, isIn, SHARE } from './groups.policy.ts';
import type { GroupExport, GroupView } from './groups.schema.ts';

/** `data` with its default rule for sharing. Groups are not nested. */
const DATA = `coalesce(g.data, '{}') || jsonb_build_object('config',
  case when jsonb_typeof(g.data -> 'config') = 'object' then g.data -> 'config' else '{}' end
  || jsonb_build_object('share', coalesce(g.data #> '{config,share}', '"members"')))`;

const VIEW = `g.id, g.user_id, null as parent_group_id, g.name, g.description, ${DATA} as data, g.meta, g.permissions, g.created_at, g.updated_at,
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

const OF_USER = statement<GroupView, { userId: string }>(
  'group.of_user',
  `select ${VIEW} from user_group g where ${isIn(':userId::uuid')} ${NEWEST_FIRST}`,
);

export const listGroupsOf = (sql: Sql, userId: string): Promise<GroupView[]> => sql.rows(OF_USER, { userId });

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
  `select distinct gm.user_id from group_member gm where gm.group_id = any(:groupIds::text[]) order by gm.user_id`,
);

/** The ids of the members of some groups. */
export async function listPeopleOf(sql: Sql, groupIds: string[]): Promise<string[]> {
  const rows = await sql.rows(PEOPLE, { groupIds });
  return rows.map(({ user_id }) => user_id);
}

interface StoreParams {
  id: string;
  name: string;
  description: string;
  data: string | null;
  meta: string | null;
  permissions: string | null;
  at: number;
}
const INSERT = statement<{ id: string }, StoreParams & { userId: string }>(
  'group.insert',
  `insert into user_group (id, user_id, name, description, data, meta, permissions, created_at, updated_at)
   values (:id, :userId, :name, :description, :data::jsonb, :meta::jsonb, :permissions::jsonb, :at::int, :at::int)
   on conflict (name) do nothing returning id`,
);
const UPDATE = statement<never, StoreParams>(
  'group.update',
  `update user_group set name = :name, description = :description, data = :data::jsonb, meta = :meta::jsonb,
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

export type StoredGroup = Pick<GroupView, 'name' | 'description' | 'meta' | 'permissions'> & {
  data: GroupView['data'] | null;
};

const text = (value: object | null) => value && JSON.stringify(value);
const written = ({ name, description, data, meta, permissions }: StoredGroup) => ({
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
