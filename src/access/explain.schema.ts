import { z } from 'zod';
import { id, name } from '../core/wire.ts';
import { RESOURCE_TYPES } from './access.schema.ts';

export const explainInput = z
  .object({
    user_id: id().optional(),
    permission: z
      .string()
      .max(128)
      .regex(/^\w+\.\w+$/, 'must be a name such as workspace.tools')
      .optional(),
    resource_type: z.enum(RESOURCE_TYPES).optional(),
    resource_id: name().optional(),
    right: z.enum(['read', 'write']).default('read'),
  })
  .refine(({ permission, resource_type: type, resource_id }) => {
    const [hasType, hasId] = [type !== undefined, resource_id !== undefined];
    return permission === undefined ? hasType && hasId : !hasType && !hasId;
  }, 'name either a permission, or a resource_type and a resource_id');
export type ExplainInput = z.infer<typeof explainInput>;

/**
 * The rule that decides:
 *
 * - `pending`: the account waits for approval
 * - `administrator`: administrators may do it
 * - `owner`: the account owns the resource
 * - `member`: the account is a member of the channel
 * - `grant`: a grant to the account
 * - `everyone`: a grant to everyone
 * - `group`: a grant to a group, or a permission of a group
 * - `default`: every account may do it
 * - `barred`: a switch or a missing permission bars the whole kind of resource, or the resource requires something else
 * - `none`: nothing allows it
 */
const RULES = [
  ...(['pending', 'administrator', 'owner', 'member', 'grant', 'everyone', 'group'] as const),
  ...(['default', 'barred', 'none'] as const),
] as const;
export type Rule = (typeof RULES)[number];

export const Explanation = z
  .object({
    user_id: z.string(),
    allowed: z.boolean(),
    rule: z.enum(RULES),
    /** For people to read. */
    detail: z.string(),
    /** The groups that allow it. */
    groups: z.array(z.object({ id: z.string(), name: z.string() })),
    /** The grants that allow it. */
    grants: z.array(
      z.object({ principal_type: z.string(), principal_id: z.string(), permission: z.string() }),
    ),
  })
  .meta({ id: 'Explanation', description: 'The rule that allows or refuses something to an account' });
export type Explanation = z.infer<typeof Explanation>;
