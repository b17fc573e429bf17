import { z } from 'zod';
import type { Terms } from '../core/terms.ts';
import { name } from '../core/wire.ts';
import * as declared from '../terms.ts';

/** One right as a caller sends it; `*` names everyone. */
export const GrantInput = z
  .object({
    principal_type: z.enum(['user', 'group']),
    // Users and groups have UUIDs; see `id`.
    principal_id: name().toLowerCase(),
    permission: z.enum(['read', 'write']),
  })
  .meta({ id: 'GrantInput' });
export type GrantInput = z.infer<typeof GrantInput>;

/** The grants of one resource as a caller sends them. */
export const grantList = () => z.array(GrantInput).max(1000);

export const GrantView = z
  .object({
    id: z.string(),
    resource_type: z.string(),
    resource_id: z.string(),
    principal_type: z.string(),
    principal_id: z.string(),
    permission: z.string(),
    created_at: z.int(),
  })
  .meta({ id: 'Grant' });
export type GrantView = z.infer<typeof GrantView>;

type GrantableOf<T> = T extends { grantable: infer Type extends string } ? Type : never;
/** What rights can be granted to. */
export type ResourceType = GrantableOf<(typeof declared)[keyof typeof declared]>;

export const RESOURCE_TYPES = Object.values<Terms>(declared).flatMap(
  ({ grantable }) => grantable ?? [],
) as ResourceType[];
