import { AppError } from '../../core/errors.ts';
import type { Role } from '../../core/scope.ts';
import { isStorable } from '../../core/wire.ts';
import { normaliseEmail } from '../../users/users.service.ts';
import type { Person } from '../identities/identities.service.ts';
import { displayName } from '../oauth/oauth.claims.ts';
import type { Directory, DirectoryEntry } from './ldap.directory.ts';

export const ISSUER = 'ldap';

/** Who the directory says somebody is, whatever name they typed. @throws email_invalid for somebody without an address */
export function readPerson(directory: Directory, entry: DirectoryEntry, typed: string): Person {
  const email = addressOf(directory, entry);
  if (email === null) {
    throw new AppError('email_invalid', { detail: 'The directory has no e-mail address of yours.' });
  }
  return {
    issuer: ISSUER,
    subject: entry.subject,
    email,
    // Whoever named the directory trusts it; merging is a decision of its own.
    emailVerified: true,
    name: displayName([entry.values(directory.attributes.name)[0], typed]),
    role: decideRole(directory, entry)?.role,
    groups: directory.groups.manage ? groupsOf(directory, entry) : undefined,
    picture: async () => undefined,
  };
}

/** The first address that is one: some directories keep aliases and old ones beside it. */
export function addressOf({ attributes }: Directory, entry: DirectoryEntry): string | null {
  for (const value of entry.values(attributes.mail)) {
    try {
      if (isStorable(value)) return normaliseEmail(value);
    } catch {
      // The next may be one.
    }
  }
  return null;
}

/** The names of their groups. */
export const groupsOf = ({ attributes }: Directory, entry: DirectoryEntry): string[] =>
  entry.values(attributes.groups).map(nameOf);

/** The role that groups of the directory give, and the one that decides it; null where they have no say. */
export function decideRole(
  { attributes, roles }: Directory,
  entry: DirectoryEntry,
): { role: Role; group: string | null } | null {
  if (!roles.manage) return null;
  const values = entry.values(attributes.groups);
  // Apart, as a group may be called what looks like the place of another.
  const places = new Set(values.map(foldPlace));
  const names = new Set(values.map((value) => nameOf(value).toLowerCase()));
  // A name is that of a group wherever it is; a place is that of one group.
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

/** The name of a group, which directories name by where it is: `cn=staff,ou=groups,dc=example,dc=com`. */
function nameOf(place: string): string {
  const [, name] = /^[^=,]+=((?:\\.|[^,+\\])+)/.exec(place) ?? [];
  return name === undefined ? place : unescapeName(name);
}

/** A value within a name, as RFC 4514 escapes it: bytes of UTF-8 in hexadecimal, or one character. */
const unescapeName = (name: string): string =>
  name
    .replaceAll(/(?:\\[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('\\', ''), 'hex').toString())
    .replaceAll(/\\(.)/g, '$1');

/** Where an entry is, as directories compare it: in any case, with or without spaces between the parts. */
const foldPlace = (place: string): string => place.toLowerCase().replaceAll(/(?<!\\)\s*([,=+])\s*/g, '$1');
