/** What grants can be given on. */
export type ResourceType = 'channel' | 'tool';

const covers = { read: "('read', 'write')", write: "('write')" };

/**
 * SQL for a condition: the user holds the permission on the row by a grant, their own or everyone's. `write` implies
 * `read`. Arguments are SQL expressions, never values.
 *
 * @param id    the row's id as text, such as `c.id::text`
 * @param user  the user's id as text, such as `$2::text`
 */
export const holdsGrant = (
  type: ResourceType,
  id: string,
  permission: 'read' | 'write',
  user: string,
): string =>
  `exists (select from access_grant g
     where g.resource_type = '${type}' and g.resource_id = ${id} and g.permission in ${covers[permission]}
       and g.principal_type = 'user' and g.principal_id in ('*', ${user}))`;

/**
 * SQL for the same as `holdsGrant` with `read`, where many users are asked about one resource: its grants are looked up once.
 *
 * @param id    must not depend on the row of the user
 */
export const grantees = (type: ResourceType, id: string, user: string): string => {
  const principals = `select g.principal_id from access_grant g
     where g.resource_type = '${type}' and g.resource_id = ${id} and g.principal_type = 'user'`;
  return `('*' in (${principals}) or ${user} in (${principals}))`;
};

/** SQL for the ids (as text) of all resources of a type that the user may read by a grant. */
export const grantedIds = (type: ResourceType, user: string): string =>
  `select g.resource_id from access_grant g
     where g.principal_type = 'user' and g.principal_id in ('*', ${user}) and g.resource_type = '${type}'`;

/** SQL for a resource's grants as a JSON array. */
export const grantsOf = (type: ResourceType, id: string): string =>
  `coalesce((select json_agg(g order by g.created_at, g.id) from access_grant g
     where g.resource_type = '${type}' and g.resource_id = ${id}), '[]'::json)`;
