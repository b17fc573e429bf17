import type { Person } from '../core/caller.ts';
import { statement } from '../database/sql.ts';
import { groupsOf, peopleOf } from '../groups/groups.policy.ts';
import type { GrantInput, ResourceType } from './access.schema.ts';

export const covers = { read: "('read', 'write')", write: "('write')" };

/** SQL for whether the grant `g` is for the person, for everyone, or for a group that the person is in. */
export const concerns = (person: Person): string =>
  `((g.principal_type = 'user' and g.principal_id in ('*', ${person.id}::text))
     or (g.principal_type = 'group' and g.principal_id in (${groupsOf(person.id)})))`;

/**
 * SQL for whether a grant gives the person the permission on the row: a grant to the person, to everyone, or to a group of the
 * person. `write` implies `read`. Arguments are SQL expressions, never values.
 *
 * @param id    the row's id as text, such as `c.id::text`
 */
export const holdsGrant = (
  type: ResourceType,
  id: string,
  permission: 'read' | 'write',
  person: Person,
): string =>
  `exists (select from access_grant g
     where g.resource_type = '${type}' and g.resource_id = ${id} and g.permission in ${covers[permission]}
       and ${concerns(person)})`;

/**
 * SQL for the same as `holdsGrant` with `read`, for many people and one resource: its grants are looked up once.
 *
 * @param id    must not depend on the row of the person
 */
export const grantees = (type: ResourceType, id: string, person: Person): string => {
  const named = (principal: string) => `from access_grant g
     where g.resource_type = '${type}' and g.resource_id = ${id} and g.principal_type = '${principal}'`;
  const people = `select g.principal_id ${named('user')}`;
  const members = `select p.user_id::text from (${peopleOf(`select g.principal_id ${named('group')}`)}) p`;
  const user = `${person.id}::text`;
  return `('*' in (${people}) or ${user} in (${people}) or ${user} in (${members}))`;
};

/** SQL for the ids (as text) of all resources of a type that the person may read by a grant. It may return an id twice. */
export const grantedIds = (type: ResourceType, person: Person): string =>
  `select g.resource_id from access_grant g
     where g.principal_type = 'user' and g.principal_id in ('*', ${person.id}::text) and g.resource_type = '${type}'
    union all
   select g.resource_id from access_grant g
     where g.principal_type = 'group' and g.principal_id in (${groupsOf(person.id)}) and g.resource_type = '${type}'`;

/** The same with `may_write`: whether the grant includes the right to write. */
export const grantsTo = (type: ResourceType, person: Person): string =>
  `select g.resource_id, g.permission = 'write' as may_write from access_grant g
     where g.principal_type = 'user' and g.principal_id in ('*', ${person.id}::text) and g.resource_type = '${type}'
    union all
   select g.resource_id, g.permission = 'write' from access_grant g
     where g.principal_type = 'group' and g.principal_id in (${groupsOf(person.id)}) and g.resource_type = '${type}'`;

/** SQL for a resource's grants as a JSON array. */
export const grantsOf = (type: ResourceType, id: string): string =>
  `coalesce((select json_agg(g order by g.created_at, g.id) from access_grant g
     where g.resource_type = '${type}' and g.resource_id = ${id}), '[]'::json)`;

export const REVOKE = statement<GrantInput, { type: ResourceType; id: string }>(
  'access_grant.revoke',
  `delete from access_grant where resource_type = :type and resource_id = :id
   returning principal_type, principal_id, permission`,
);
