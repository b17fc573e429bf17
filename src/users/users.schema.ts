import { z } from 'zod';
import { label, text } from '../core/wire.ts';

export const RoleAtom = z.enum(['admin', 'user', 'pending']);

/** A password on its way in: capped, so that nobody makes the server hash megabytes. */
export const password = () => text(1024).min(1, 'must not be empty');

/** An address on its way in; `normaliseEmail` decides whether it is one. */
export const emailInput = () => label(320);

/**
 * An avatar: our own path or a small inline picture. Addresses of other servers would be fetched by everyone who sees the
 * account, and SVG can carry scripts.
 */
export const imageUrl = () =>
  label(1024 * 1024).refine(
    (value) =>
      value === '' ||
      value === '/user.png' ||
      /^\/api\/v1\/users\/[0-9a-f-]{36}\/profile\/image$/.test(value) ||
      /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/.test(value),
    'must be a path of this server or a data URI of a PNG, JPEG, GIF or WebP picture',
  );

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
