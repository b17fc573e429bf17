import { z } from 'zod';
import { decodePicture, MAX_CHARACTERS, PICTURE_EXPECTED } from '../core/pictures.ts';
import { label, shownName, text } from '../core/wire.ts';

export const RoleAtom = z.enum(['admin', 'user', 'pending']);

/** A person's display name. */
export const personName = () => shownName();

/**
 * A password from a client. Its length is limited, so that a caller cannot make the server hash megabytes.
 */
export const password = () => text(1024).min(1, 'must not be empty');

/** A new password; `requireGoodPassword` checks it. */
export const newPassword = () =>
  password().meta({
    description:
      'At least 8 characters unless the configuration says otherwise, at most 128; neither the address, the name nor a common password',
    maxLength: 128,
  });

/** An address from a client; `normaliseEmail` validates it. */
export const emailInput = () => label(320).describe('An e-mail address; upper and lower case are the same');
export const newEmail = () =>
  emailInput().meta({
    description: 'An e-mail address; upper and lower case are the same',
    pattern: String.raw`^\s*[^@\s<>"]+@[^@\s<>"]+\s*$`,
  });

const OWN_PATH = /^\/api\/v1\/users\/[0-9a-f-]{36}\/profile\/image$/;

const MAX_ADDRESS = 2_048;

/**
 * Whether the value names a picture at another server. It is stored, but never shown to others: each viewer
 * would call that server.
 */
export function isElsewhere(value: string): boolean {
  if (!value.startsWith('https://') || value.length > MAX_ADDRESS || /[\s\p{Cc}\\]/u.test(value))
    return false;
  const url = URL.canParse(value) ? new URL(value) : null;
  return url !== null && url.username === '' && url.password === '';
}

/**
 * An avatar: the account's own path (the initials), a small inline picture, or an https address. Every
 * procedure that writes an avatar uses this schema.
 */
export const imageUrl = () => {
  const error = `must be a path of this server, an https address, or ${PICTURE_EXPECTED.replace('must be ', '')}`;
  return z
    .string()
    .max(MAX_CHARACTERS, { abort: true, error })
    .refine(
      (value) =>
        value === '' ||
        value === '/user.png' ||
        OWN_PATH.test(value) ||
        isElsewhere(value) ||
        decodePicture(value) !== null,
      error,
    )
    .meta({
      description:
        'A path of this server, a small inline picture (data URI), an https address, or empty for the standard one',
      pattern: String.raw`^(/user\.png|/api/v1/users/[0-9a-f-]{36}/profile/image|https://\S+|data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2})?$`,
    });
};

/** The fields of a new account. A sign-up uses them, and so does an administrator, who also sets a role. */
export const accountForm = {
  email: newEmail(),
  name: personName(),
  password: newPassword(),
  profile_image_url: imageUrl().default('/user.png'),
};
export const givenAccountForm = {
  ...accountForm,
  role: RoleAtom.default('pending').describe(
    '`pending` waits for approval: such an account can sign in and do little else',
  ),
};

export const UserView = z
  .object({
    id: z.string(),
    email: z.string(),
    username: z.string().nullable(),
    role: RoleAtom,
    name: z.string(),
    profile_image_url: z.string(),
    last_active_at: z.int(),
    updated_at: z.int(),
    created_at: z.int(),
  })
  .meta({ id: 'User' });
export type UserView = z.infer<typeof UserView>;

const signInMethods = z.array(z.string()).meta({
  description: '`password`, `ldap`, and the issuers of the providers by which the account can sign in',
});

/** An account in a list. Pictures are given as paths, because inline pictures would be megabytes. */
export const UserListing = UserView.extend({ group_ids: z.array(z.string()), sign_in: signInMethods }).meta({
  id: 'UserListing',
});
export type UserListing = z.infer<typeof UserListing>;

const status = {
  status_emoji: z.string().nullable(),
  status_message: z.string().nullable(),
  /** Unix seconds; null for a status that does not expire. */
  status_expires_at: z.int().nullable(),
};
const groups = z.array(z.object({ id: z.string(), name: z.string() }));

/** All fields of an account, for administrators and the account's owner. */
export const UserDetail = UserView.extend({
  bio: z.string().nullable(),
  gender: z.string().nullable(),
  date_of_birth: z.string().nullable(),
  timezone: z.string().nullable(),
  ...status,
  is_active: z.boolean(),
  groups,
  sign_in: signInMethods,
}).meta({ id: 'UserDetail' });
export type UserDetail = z.infer<typeof UserDetail>;

/** The fields of an account that other users may see. */
export const UserInfo = z
  .object({
    id: z.string(),
    name: z.string(),
    /** For administrators and the account's owner; null for others. */
    email: z.string().nullable(),
    role: RoleAtom,
    bio: z.string().nullable(),
    /** Groups that the caller is in too; all groups for administrators. Absent in lists. */
    groups,
    is_active: z.boolean(),
    ...status,
  })
  .meta({ id: 'UserInfo' });
export type UserInfo = z.infer<typeof UserInfo>;

export const USER_ORDERS = ['created_at', 'updated_at', 'name', 'email', 'role', 'last_active_at'] as const;

/** `group_id`: by membership of one group. */
export type UserOrder = (typeof USER_ORDERS)[number] | 'group_id';
