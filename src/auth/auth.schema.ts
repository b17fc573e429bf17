import { z } from 'zod';
import { Permissions } from '../configs/permissions.schema.ts';
import { RoleAtom } from '../users/users.schema.ts';

/** Who is signed in, with the token that says so. */
export const SessionUser = z
  .object({
    token: z.string(),
    token_type: z.literal('Bearer'),
    /** Unix seconds; null for a token that does not expire. */
    expires_at: z.int().nullable(),
    id: z.string(),
    email: z.string(),
    name: z.string(),
    role: RoleAtom,
    profile_image_url: z.string(),
    permissions: Permissions,
  })
  .meta({ id: 'SessionUser' });
export type SessionUser = z.infer<typeof SessionUser>;

export const SignedOut = z
  .object({
    status: z.literal(true),
    /** Where a browser goes to end its session at the provider too; absent for sessions that did not begin at one. */
    redirect_url: z.string().optional(),
  })
  .meta({ id: 'SignedOut' });
