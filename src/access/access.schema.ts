import { z } from 'zod';
import { name } from '../core/wire.ts';

/** One right as a caller asks for it; `*` names everyone. */
export const GrantInput = z
  .object({
    principal_type: z.enum(['user', 'group']),
    // Users and groups have UUIDs; see `id`.
    principal_id: name().toLowerCase(),
    permission: z.enum(['read', 'write']),
  })
  .meta({ id: 'GrantInput' });
export type GrantInput = z.infer<typeof GrantInput>;

/** The grants of one resource on their way in. */
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

/** What grants can be given on. */
export const RESOURCE_TYPES = ['channel', 'tool'] as const;

export type ResourceType = (typeof RESOURCE_TYPES)[number];
