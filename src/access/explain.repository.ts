import { ACCOUNT } from '../core/caller.ts';
import type { Grantable, Ground } from '../core/rules.ts';
import type { Role } from '../core/scope.ts';
import { type Sql, type Statement, statement } from '../database/sql.ts';
import { groupsOf } from '../groups/groups.policy.ts';
import { concerns, covers } from './access.repository.ts';

interface NamedGroup {
  id: string;
  name: string;
}

export interface PermissionFacts {
  role: Role;
  /** The groups of the account that give the permission. */
  groups: NamedGroup[];
}

const PERMISSION = statement<PermissionFacts, { userId: string; path: string[] }>(
  'explain.permission',
  `select u.role, coalesce((
       select json_agg(json_build_object('id', gp.id, 'name', gp.name) order by gp.name) from user_group gp
        where gp.id in (${groupsOf('u.id')})
          and gp.permissions #> :path::text[] = 'true'::jsonb), '[]'::json) as groups
     from users u where u.id = :userId`,
);

/** The facts that decide whether an account has a permission, given by its path; undefined for an unknown account. */
export async function readPermissionFacts(
  sql: Sql,
  userId: string,
  path: [section: string, leaf: string],
): Promise<PermissionFacts | undefined> {
  const [row] = await sql.rows(PERMISSION, { userId, path });
  return row;
}

export interface ResourceFacts {
  role: Role;
  is_there: boolean;
  /** Whether membership decides instead of grants. */
  has_members: boolean;
  /** Why the person has the right, in the order of the rule; empty when they do not. */
  grounds: Ground['name'][];
  /** The grants that give the person the right; those to the person first. */
  grants: { principal_type: string; principal_id: string; permission: string; group_name: string | null }[];
}

type Right = 'read' | 'write';
type Explaining = Statement<ResourceFacts, { userId: string; resourceId: string }>;

/** By kind and right. */
const made = new Map<string, Explaining>();

function explaining({ type, explain }: Grantable, right: Right): Explaining {
  const name = `explain.${type}.${right}`;
  let found = made.get(name);
  if (!found) {
    found = statement(
      name,
      `select u.role, target.grounds is not null as is_there, coalesce(target.has_members, false) as has_members,
              coalesce(target.grounds, '{}') as grounds, coalesce((
         select json_agg(json_build_object('principal_type', g.principal_type, 'principal_id', g.principal_id,
                  'permission', g.permission, 'group_name', gp.name)
                  order by g.principal_type = 'group', g.principal_id = '*', g.created_at, g.id)
           from access_grant g left join user_group gp on g.principal_type = 'group' and gp.id = g.principal_id
          where g.resource_type = '${type}' and g.resource_id = :resourceId and g.permission in ${covers[right]}
            and ${concerns(ACCOUNT)}), '[]'::json) as grants
       from users u left join lateral (${explain(right)}) target on true where u.id = :userId`,
    );
    made.set(name, found);
  }
  return found;
}

/** The facts that decide whether an account has a right to a resource; undefined for an unknown account. */
export async function readResourceFacts(
  sql: Sql,
  userId: string,
  { kind, id, right }: { kind: Grantable; id: string; right: Right },
): Promise<ResourceFacts | undefined> {
  const [row] = await sql.rows(explaining(kind, right), { userId, resourceId: id });
  return row;
}
