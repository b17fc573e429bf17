import { z } from 'zod';
import { Permissions } from '../configs/settings/permissions.schema.ts';
import { UserDetail, UserView } from '../users/users.schema.ts';

/** Who is signed in, with the token that says so. */
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

/** The same with the profile, which clients send back whole when they change a part of it. */
export const WhoAmI = SessionUser.extend({
  bio,
  gender,
  date_of_birth,
  status_emoji,
  status_message,
  status_expires_at,
}).meta({ id: 'WhoAmI' });
export type WhoAmI = z.infer<typeof WhoAmI>;

/** An account that an administrator added. Clients of comparable systems require the members of a token, which stays empty. */
export const AddedUser = UserView.extend({ token: z.literal(''), token_type: z.literal('Bearer') }).meta({
  id: 'AddedUser',
});

export const SignedOut = z
  .object({
    status: z.literal(true),
    /** Where a browser goes to end its session at the provider too; absent for sessions that did not begin at one. */
    redirect_url: z.string().optional(),
  })
  .meta({ id: 'SignedOut' });
