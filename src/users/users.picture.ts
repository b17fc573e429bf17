import { createHash } from 'node:crypto';
import { decodePicture, type ExternalPicture, type Picture } from '../core/pictures.ts';
import type { Scope } from '../core/scope.ts';
import { readPicture } from './users.repository.ts';
import { isElsewhere } from './users.schema.ts';

const pathOf = (id: string) => `/api/v1/users/${id}/profile/image`;

/**
 * An inline picture and an https address are stored unchanged. Any other value becomes the account's own
 * path.
 */
export const storedImage = (id: string, image = ''): string =>
  image.startsWith('data:') || image.startsWith('https:') ? image : pathOf(id);

/**
 * Reserves quota for the difference in size between the new picture and the current one.
 *
 * @throws quota_exceeded
 */
export async function reservePicture(scope: Scope, id: string, image: string): Promise<void> {
  if (!image.startsWith('data:')) return;
  const before = (await readPicture(scope.sql, id))?.profile_image_url ?? '';
  const growth = image.length - (before.startsWith('data:') ? before.length : 0);
  if (growth > 0) await scope.quotas.store(id, growth);
}

/** The address of the picture that Gravatar has for an e-mail address. Computed here: nothing is requested. */
export function gravatarOf(email: string): string {
  const hash = createHash('sha256').update(email.trim().toLowerCase()).digest('hex');
  return `https://www.gravatar.com/avatar/${hash}?d=mp`;
}

/**
 * The picture for other users. An address at another server is replaced, because each viewer would call that
 * server.
 */
export const imageForOthers = (id: string, image: string): string =>
  image.startsWith('https:') ? pathOf(id) : image;

/**
 * The picture of an account: its own, the one at another server if the configuration allows it, or the
 * initials. Null if there is no account.
 */
export async function userPicture(scope: Scope, id: string): Promise<Picture | ExternalPicture | null> {
  const user = await readPicture(scope.sql, id);
  if (!user) return null;
  const { name, profile_image_url: address } = user;
  const isShown = scope.configs.current.files?.show_external_pictures === true;
  if (isShown && isElsewhere(address)) return { address };
  return decodePicture(address) ?? initials(id, name);
}

/**
 * An image of the initials of the first and the last word that begin with a letter or digit. The id
 * determines the colour.
 */
function initials(id: string, name: string): Picture {
  const letters = name.split(/\s+/u).flatMap((word) => /^[\p{L}\p{N}]/u.exec(word)?.[0] ?? []);
  const shown = [...new Set([letters[0], letters.at(-1)])].join('').toUpperCase();
  const hue = createHash('sha256').update(id).digest().readUInt16BE(0) % 360;
  // The initials are only letters and digits, so nothing needs escaping.
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="hsl(${hue} 45% 40%)"/><text x="32" y="33" fill="#fff" font-family="sans-serif" font-size="26" text-anchor="middle" dominant-baseline="central">${shown}</text></svg>`;
  return { type: 'image/svg+xml', bytes: Buffer.from(svg) };
}
