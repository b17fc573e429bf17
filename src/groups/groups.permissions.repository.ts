import { groupsOf } from './groups.policy.ts';

/**
 * SQL for the names of the permissions that the groups of a user give, as an array of text.
 *
 * @param user an SQL expression for the user's id
 */
export const groupPermissions = (user: string): string =>
  `array(select distinct section.key || '.' || leaf.key
     from (select permissions from user_group where id in (${groupsOf(user)}) and jsonb_typeof(permissions) = 'object') gp
       cross join lateral jsonb_each(gp.permissions) section cross join lateral jsonb_each(section.value) leaf
    where leaf.value = 'true'::jsonb)`;
