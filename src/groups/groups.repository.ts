import { type Sql, statement } from '../database/sql.ts';
import type { GroupExport, GroupView } from './groups.schema.ts';

const SHARE = `coalesce(g.data #>> '{config,share}', 'members')`;

/** SQL conditions on a row `g` of `user_group`; arguments are SQL expressions. */
const isIn = (user: string) =>
  `exists (select from group_member gm where gm.group_id = g.id and gm.user_id = ${user})`;
const mayShareTo = (user: string, isAdmin: string) =>
  `(${isAdmin} or ${SHARE} = 'true' or (${SHARE} = 'members' and ${isIn(user)}))`;

/** `data` always says who may give rights to the group; groups are not nested here. */
const DATA = `coalesce(g.data, '{}') || jsonb_build_object('config',
  case when jsonb_typeof(g.data -> 'config') = 'object' then g.data -> 'config' else '{}' end
  || jsonb_build_object('share', coalesce(g.data #> '{config,share}', '"members"')))`;

const VIEW = `g.id, g.user_id, null as parent_group_id, g.name, g.description, ${DATA} as data, g.meta, g.permissions, g.created_at, g.updated_at,
  (select count(distinct gm.user_id)::int from group_member gm where gm.group_id = g.id) as member_count`;

const NEWEST_FIRST = 'order by g.updated_at desc, g.name';

const LIST = statement<GroupView>(
  'group.list',
  `select ${VIEW} from user_group g
    where $2 or case when $3::boolean is null then ${isIn('$1')}
                     when $3 then ${mayShareTo('$1', 'false')}
                     else ${SHARE} = 'false' and ${isIn('$1')} end ${NEWEST_FIRST}`,
);

export interface Caller {
  id: string;
  role: string;
}

/**
 * The groups that the caller is in, the last changed first; administrators get all.
 *
 * @param share true: those that the caller may give rights to instead; false: those of theirs that only administrators may
 */
export const listGroups = (
  sql: Sql,
  { id, role }: Caller,
  share: boolean | undefined,
): Promise<GroupView[]> => sql.rows(LIST, [id, role === 'admin', share ?? null]);

const OF_USER = statement<GroupView>(
  'group.of_user',
  `select ${VIEW} from user_group g where ${isIn('$1')} ${NEWEST_FIRST}`,
);

export const listGroupsOf = (sql: Sql, userId: string): Promise<GroupView[]> => sql.rows(OF_USER, [userId]);

const GET = statement<GroupView>('group.get', `select ${VIEW} from user_group g where g.id = $1`);

export async function findGroup(sql: Sql, id: string): Promise<GroupView | undefined> {
  const [row] = await sql.rows(GET, [id]);
  return row;
}

const VISIBLE = statement<GroupView>(
  'group.visible',
  `select ${VIEW} from user_group g where g.id = $3 and (${isIn('$1')} or ${mayShareTo('$1', '$2')})`,
);

/** A group that the caller is in or may give rights to. */
export async function findVisibleGroup(sql: Sql, { id, role }: Caller, groupId: string) {
  const [row] = await sql.rows(VISIBLE, [id, role === 'admin', groupId]);
  return row;
}

const EXPORT = statement<GroupExport>(
  'group.export',
  `select ${VIEW}, coalesce(people.user_ids, '[]'::json) as user_ids, coalesce(people.members, '[]'::json) as members
     from user_group g left join lateral (
       select json_agg(user_id order by since, user_id) as user_ids,
              json_agg(json_build_object('user_id', user_id, 'sources', sources) order by since, user_id) as members
         from (select gm.user_id, min(gm.created_at) as since, json_agg(gm.source order by gm.source) as sources
                 from group_member gm where gm.group_id = g.id group by gm.user_id) each) people on true
    where g.id = $1`,
);

/** A group with everybody in it. */
export async function readExport(sql: Sql, id: string): Promise<GroupExport | undefined> {
  const [row] = await sql.rows(EXPORT, [id]);
  return row;
}

const SHAREABLE = statement<{ id: string }>(
  'group.shareable',
  `select g.id from user_group g where g.id = any($3::text[]) and ${mayShareTo('$1', '$2')}`,
);

/** Those of some groups that the caller may give rights to. */
export async function listShareable(sql: Sql, { id, role }: Caller, among: string[]): Promise<string[]> {
  const rows = await sql.rows(SHAREABLE, [id, role === 'admin', among]);
  return rows.map((row) => row.id);
}

const PEOPLE = statement<{ user_id: string }>(
  'group.people',
  `select distinct gm.user_id from group_member gm where gm.group_id = any($1::text[]) order by gm.user_id`,
);

/** The ids of everybody who is in one of some groups. */
export async function listPeopleOf(sql: Sql, groupIds: string[]): Promise<string[]> {
  const rows = await sql.rows(PEOPLE, [groupIds]);
  return rows.map(({ user_id }) => user_id);
}

/*
 * Statements of changes.
 */
const INSERT = statement<{ id: string }>(
  'group.insert',
  `insert into user_group (id, user_id, name, description, data, meta, permissions, created_at, updated_at)
   values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7::jsonb, $8::int, $8::int) on conflict (name) do nothing returning id`,
);
const UPDATE = statement(
  'group.update',
  `update user_group set name = $2, description = $3, data = $4::jsonb, meta = $5::jsonb, permissions = $6::jsonb,
     updated_at = $7 where id = $1`,
);
export const LOCK_GROUP = statement<{ id: string }>(
  'group.lock',
  'select id from user_group where id = $1 for update',
);
export const DELETE_GROUP = statement('group.delete', 'delete from user_group where id = $1');
export const DELETE_GRANTS_TO = statement(
  'group.delete_grants',
  `delete from access_grant where principal_type = 'group' and principal_id = $1`,
);

export type StoredGroup = Pick<GroupView, 'name' | 'description' | 'meta' | 'permissions'> & {
  data: GroupView['data'] | null;
};

const text = (value: object | null) => value && JSON.stringify(value);
const written = ({ name, description, data, meta, permissions }: StoredGroup) =>
  [name, description, text(data), text(meta), text(permissions)] as const;

/** @returns false when another group has the name */
export async function insertGroup(
  sql: Sql,
  id: string,
  userId: string,
  group: StoredGroup,
  at: number,
): Promise<boolean> {
  const rows = await sql.rows(INSERT, [id, userId, ...written(group), at]);
  return rows.length > 0;
}

export async function storeGroup(sql: Sql, id: string, group: StoredGroup, at: number): Promise<void> {
  await sql.rows(UPDATE, [id, ...written(group), at]);
}
