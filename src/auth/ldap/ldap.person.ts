import { AppError } from '../../core/errors.ts';
import type { Role } from '../../core/scope.ts';
import { isStorable } from '../../core/wire.ts';
import { normaliseEmail } from '../../users/users.service.ts';
import type { Person } from '../identities/identities.service.ts';
import { displayName } from '../oauth/oauth.claims.ts';
import type { Directory, DirectoryEntry } from './ldap.directory.ts';

export const ISSUER = 'ldap';

/**
 * Reads a person from an entry, whatever name the user typed. @throws email_invalid for an entry without an
 * address
 */
export function readPerson(directory: Directory, entry: DirectoryEntry, typed: string): Person {
  const email = addressOf(directory, entry);
  if (email === null) {
    throw new AppError('email_invalid', { detail: 'The directory has no e-mail address of yours.' });
  }
  return {
    issuer: ISSUER,
    subject: entry.subject,
    email,
    // The operator configured the directory, so its addresses are trusted. Merging is a separate setting.
    emailVerified: true,
    name: displayName([entry.values(directory.attributes.name)[0], typed]),
    role: decideRole(directory, entry)?.role,
    groups: directory.groups.manage ? groupsOf(directory, entry) : undefined,
    picture: async () => undefined,
  };
}

/** The first valid address: some directories also store aliases and old addresses in the attribute. */
export function addressOf({ attributes }: Directory, entry: DirectoryEntry): string | null {
  for (const value of entry.values(attributes.mail)) {
    try {
      if (isStorable(value)) return normaliseEmail(value);
    } catch {
      // The next value may be valid.
    }
  }
  return null;
}

/** The names of the person's groups. */
export const groupsOf = ({ attributes }: Directory, entry: DirectoryEntry): string[] =>
  entry.values(attributes.groups).map(nameOf);

/**
 * The role from the directory's groups, and the group that decides it. Null if groups do not decide roles.
 */
export function decideRole(
  { attributes, roles }: Directory,
  entry: DirectoryEntry,
): { role: Role; group: string | null } | null {
  if (!roles.manage) return null;
  const values = entry.values(attributes.groups);
  // Names and distinguished names are compared separately: a group's name may look like a distinguished name.
  const places = new Set(values.map(foldPlace));
  const names = new Set(values.map((value) => nameOf(value).toLowerCase()));
  // A name matches a group anywhere in the tree; a distinguished name matches one group.
  const among = (groups: readonly string[]) =>
    groups.find((group) =>
      group.includes('=') ? places.has(foldPlace(group)) : names.has(group.toLowerCase()),
    );
  const admin = among(roles.admin);
  if (admin !== undefined) return { role: 'admin', group: admin };
  if (roles.allowed.length === 0) return { role: 'user', group: null };
  const allowed = among(roles.allowed);
  return allowed === undefined ? { role: 'pending', group: null } : { role: 'user', group: allowed };
}

/** The name of a group from its distinguished name, such as `cn=staff,ou=groups,dc=example,dc=com`. */
function nameOf(place: string): string {
  const [, name] = /^[^=,]+=((?:\\.|[^,+\\])+)/.exec(place) ?? [];
  return name === undefined ? place : unescapeName(name);
}

/** Unescapes a value of a distinguished name (RFC 4514): hexadecimal bytes of UTF-8, or one character. */
const unescapeName = (name: string): string =>
  name
    .replaceAll(/(?:\\[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('\\', ''), 'hex').toString())
    .replaceAll(/\\(.)/g, '$1');

/** A distinguished name as directories compare it: in any case, with or without spaces between the parts. */
const foldPlace = (place: string): string => place.toLowerCase().replaceAll(/(?<!\\)\s*([,=+])\s*/g, '$1');
