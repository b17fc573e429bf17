import { defineEntity, p } from '@mikro-orm/core';
import type { Permissions } from '../configs/settings/permissions.schema.ts';
import { User } from '../users/users.entity.ts';

/** People who get rights together: by grants to the group and by its permissions. Times are seconds. */
export const Group = defineEntity({
  name: 'Group',
  tableName: 'user_group',
  properties: {
    /** A UUID as text, as in grants. */
    id: p.text().primary(),
    /** The group above. The people of this group are people of that one, too. */
    parent_group_id: p.text().nullable().index(),
    /** The creator, without any right to the group. */
    user_id: p.uuid(),
    /** The name by which providers refer to the group. */
    name: p.text().unique(),
    description: p.text(),
    /** `config.share` says who may give rights to the group; see `ShareRule`. */
    data: p.json<Record<string, unknown> | null>().nullable(),
    meta: p.json<Record<string, unknown> | null>().nullable(),
    /** Permissions of its members, in addition to the defaults. */
    permissions: p.json<Permissions | null>().nullable(),
    created_at: p.integer(),
    updated_at: p.integer(),
  },
});

/** A group above another one, at any distance; made from `parent_group_id`. */
export const GroupAncestor = defineEntity({
  name: 'GroupAncestor',
  tableName: 'group_ancestor',
  properties: {
    group: () => p.manyToOne(Group).primary().deleteRule('cascade'),
    ancestor: () => p.manyToOne(Group).primary().deleteRule('cascade').index(),
  },
});

/** One reason why a person is in a group. A person with two reasons stays until both have ended. */
export const GroupMember = defineEntity({
  name: 'GroupMember',
  tableName: 'group_member',
  properties: {
    group: () => p.manyToOne(Group).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /** `manual`, or the method of sign-in that keeps it: `oauth`, `ldap`. */
    source: p.text().primary(),
    created_at: p.integer(),
  },
});
