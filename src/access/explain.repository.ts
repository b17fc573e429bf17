import type { Role } from '../core/scope.ts';
import { type Sql, statement } from '../database/sql.ts';
import { concerns, covers } from './access.repository.ts';
import type { ResourceType } from './access.schema.ts';

interface NamedGroup {
  id: string;
  name: string;
}

export interface PermissionFacts {
  role: Role;
  /** Those of their groups that give it. */
  groups: NamedGroup[];
}

const PERMISSION = statement<PermissionFacts>(
  'explain.permission',
  `select u.role, coalesce((
       select json_agg(json_build_object('id', gp.id, 'name', gp.name) order by gp.name) from user_group gp
        where gp.id in (select gm.group_id from group_member gm where gm.user_id = u.id)
          and gp.permissions #> $2::text[] = 'true'::jsonb), '[]'::json) as groups
     from users u where u.id = $1`,
);

/** What there is to know for whether somebody has a permission, given by its path; undefined for nobody. */
export async function readPermissionFacts(
  sql: Sql,
  userId: string,
  path: [section: string, leaf: string],
): Promise<PermissionFacts | undefined> {
  const [row] = await sql.rows(PERMISSION, [userId, path]);
  return row;
}

export interface ResourceFacts {
  role: Role;
  /** Null when there is no such resource. */
  owner_id: string | null;
  /** Whether it goes by membership instead of grants. */
  has_members: boolean;
  is_member: boolean;
  /** Those that give the person the right, their own first. */
  grants: { principal_type: string; principal_id: string; permission: string; group_name: string | null }[];
}

const TARGETS: Record<ResourceType, string> = {
  tool: `select t.user_id as owner_id, false as has_members, false as is_member from tool t where t.id = $2`,
  channel: `select c.user_id as owner_id, c.type is not null as has_members, exists (
       select from channel_member cm where cm.channel_id = c.id and cm.user_id = u.id) as is_member
     from channel c where c.id::text = $2`,
};

const resource = (type: ResourceType, right: 'read' | 'write') =>
  statement<ResourceFacts>(
    `explain.${type}.${right}`,
    `select u.role, target.owner_id, coalesce(target.has_members, false) as has_members,
            coalesce(target.is_member, false) as is_member, coalesce((
       select json_agg(json_build_object('principal_type', g.principal_type, 'principal_id', g.principal_id,
                'permission', g.permission, 'group_name', gp.name)
                order by g.principal_type = 'group', g.principal_id = '*', g.created_at, g.id)
         from access_grant g left join user_group gp on g.principal_type = 'group' and gp.id = g.principal_id
        where g.resource_type = '${type}' and g.resource_id = $2 and g.permission in ${covers[right]}
          and ${concerns('u.id::text')}), '[]'::json) as grants
     from users u left join lateral (${TARGETS[type]}) target on true where u.id = $1`,
  );
const RESOURCES = {
  tool: { read: resource('tool', 'read'), write: resource('tool', 'write') },
  channel: { read: resource('channel', 'read'), write: resource('channel', 'write') },
};

/** What there is to know for whether somebody has a right to a resource; undefined for nobody. */
export async function readResourceFacts(
  sql: Sql,
  userId: string,
  { type, id, right }: { type: ResourceType; id: string; right: 'read' | 'write' },
): Promise<ResourceFacts | undefined> {
  const [row] = await sql.rows(RESOURCES[type][right], [userId, id]);
  return row;
}
