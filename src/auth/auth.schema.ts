import { z } from 'zod';
import { Permissions } from '../configs/settings/permissions.schema.ts';
import { UserDetail, UserView } from '../users/users.schema.ts';

/** The signed-in user and the session token. */
export const SessionUser = z
  .object({
    token: z.string(),
    token_type: z.literal('Bearer'),
    /** Unix seconds; null for a token that does not expire. */
    expires_at: z.int().nullable(),
    ...UserView.shape,
    permissions: Permissions,
  })
  .meta({ id: 'SessionUser' });
export type SessionUser = z.infer<typeof SessionUser>;

const { bio, gender, date_of_birth, status_emoji, status_message, status_expires_at } = UserDetail.shape;

/** `SessionUser` with the profile. Clients send the whole profile back when they change a part of it. */
export const WhoAmI = SessionUser.extend({
  bio,
  gender,
  date_of_birth,
  status_emoji,
  status_message,
  status_expires_at,
}).meta({ id: 'WhoAmI' });
export type WhoAmI = z.infer<typeof WhoAmI>;

/**
 * An account that an administrator added. Clients of comparable systems require the token members; the token
 * is empty.
 */
export const AddedUser = UserView.extend({ token: z.literal(''), token_type: z.literal('Bearer') }).meta({
  id: 'AddedUser',
});

export const SignedOut = z
  .object({
    status: z.literal(true),
    /**
     * Where a browser ends its session at the provider. Absent if the session did not begin at a provider.
     */
    redirect_url: z.string().optional(),
  })
  .meta({ id: 'SignedOut' });
