/**
 * SQL for the names of the permissions that the groups of a user give, as an array of text.
 *
 * @param user an SQL expression for the user's id
 */
export const groupPermissions = (user: string): string =>
  `array(select distinct section.key || '.' || leaf.key
     from group_member gm join user_group gp on gp.id = gm.group_id and jsonb_typeof(gp.permissions) = 'object'
       cross join lateral jsonb_each(gp.permissions) section cross join lateral jsonb_each(section.value) leaf
    where gm.user_id = ${user} and leaf.value = 'true'::jsonb)`;
