import { z } from 'zod';
import { Permissions } from '../configs/settings/permissions.schema.ts';
import { emptiable } from '../core/schema/nulls.ts';
import { freeForm, id, label, plainName, storableWithin } from '../core/wire.ts';

const PERMISSION_BYTES = 64 * 1024;
const DESCRIPTION_CHARACTERS = 4096;

/** Who may give rights to a group: all people, administrators only, or its members (the default). */
const SHARE_RULES = [true, false, 'members'] as const;

/** The known members of `data` are checked; clients may add others. */
const groupData = () =>
  freeForm()
    .refine(({ config }) => {
      const share = (config as { share?: unknown } | null | undefined)?.share;
      return share === undefined || (SHARE_RULES as readonly unknown[]).includes(share);
    }, 'config.share must be true, false or "members"')
    .meta({
      properties: { config: { properties: { share: { enum: [...SHARE_RULES] } } } },
    });

const permissions = () => Permissions.check(storableWithin(PERMISSION_BYTES));

export const groupForm = {
  name: plainName(256),
  description: label(DESCRIPTION_CHARACTERS),
  permissions: permissions().nullish().describe('What members may do beyond the default permissions'),
  data: groupData()
    .nullish()
    .describe(
      '`config.share`, who may grant rights to the group: true (all), false (administrators), `members`',
    ),
  meta: freeForm().nullish().describe('Free form for clients'),
  parent_group_id: emptiable(
    id().describe('The group above: people of this group are people of that one, too. Null for none'),
  ),
};

/** The people to add or remove. */
export const userIds = () => z.array(id()).max(10_000).describe('Ids of accounts; null counts as none');

const brief = {
  id: z.string(),
  parent_group_id: z.string().nullable(),
  user_id: z.string(),
  name: z.string(),
  description: z.string(),
  /** Of those who were added to it, without people of groups below. */
  member_count: z.int(),
  created_at: z.int(),
  updated_at: z.int(),
};

export const GroupInfo = z
  .object(brief)
  .meta({ id: 'GroupInfo', description: 'What members may know of a group' });
export type GroupInfo = z.infer<typeof GroupInfo>;

export const GroupView = z
  .object({
    ...brief,
    /** Always has `config.share`. */
    data: z.record(z.string(), z.unknown()),
    meta: z.record(z.string(), z.unknown()).nullable(),
    permissions: Permissions.nullable(),
  })
  .meta({ id: 'Group' });
export type GroupView = z.infer<typeof GroupView>;

/** A group of a person. */
export const Membership = GroupView.extend({
  /** `inherited`: the person was added to a group below. */
  membership_type: z.enum(['direct', 'inherited']).optional(),
}).meta({ id: 'GroupMembership' });
export type Membership = z.infer<typeof Membership>;

/** Why a person is in a group. */
const SOURCES = ['manual', 'oauth', 'ldap'] as const;
export type Source = (typeof SOURCES)[number];

export const GroupExport = GroupView.extend({
  user_ids: z.array(z.string()),
  members: z.array(
    z.object({
      user_id: z.string(),
      sources: z.array(z.enum(SOURCES)).describe('Who keeps them in the group'),
    }),
  ),
}).meta({ id: 'GroupExport' });
export type GroupExport = z.infer<typeof GroupExport>;
