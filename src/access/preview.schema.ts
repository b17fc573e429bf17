import { z } from 'zod';
import { Permissions } from '../configs/settings/permissions.schema.ts';

const named = z.object({ id: z.string(), name: z.string() });

/** The items of one kind that may be read, and their total number. */
const Reachable = z.object({ items: z.array(named), total: z.int() });

/** Knowledge does not exist in this version: its list is empty. */
const reach = { models: Reachable, knowledge: Reachable, tools: Reachable };

export const UserPreview = z
  .object({ user: named, groups: z.array(named), ...reach })
  .meta({ id: 'UserPreview', description: 'What an account may read' });
export type UserPreview = z.infer<typeof UserPreview>;

export const GroupPreview = z
  .object({
    group: named,
    ...reach,
    permissions: Permissions.describe('What the group itself gives'),
    inherited_permissions: Permissions.describe('What every account has, and what the groups above give'),
    effective_permissions: Permissions.describe('What a member has by both'),
  })
  .meta({ id: 'GroupPreview', description: 'What membership of a group allows' });
export type GroupPreview = z.infer<typeof GroupPreview>;
