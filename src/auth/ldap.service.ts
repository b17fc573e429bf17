import { randomUUID } from 'node:crypto';
import { ResultCodeError } from 'ldapts';
import { AppError } from '../core/errors.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { isStorable } from '../core/wire.ts';
import { User } from '../users/users.entity.ts';
import { foldEmail, normaliseEmail } from '../users/users.service.ts';
import type { SessionUser } from './auth.schema.ts';
import { noteFailure } from './auth.service.ts';
import { startSession } from './auth.start.ts';
import { findIdentity } from './identities.repository.ts';
import { admitPerson, type Person } from './identities.service.ts';
import { type Directory, type DirectoryEntry, unavailable } from './ldap.directory.ts';
import type { LdapStep, LdapTest } from './ldap.schema.ts';
import { displayName } from './oauth.claims.ts';

const ISSUER = 'ldap';

const wrong = () => new AppError('credentials_wrong', { detail: 'The user name or the password is wrong.' });

function requireDirectory(scope: Scope<Actor | null>): Directory {
  if (!scope.directory) {
    throw new AppError('signin_disabled', { detail: 'Sign-in through a directory is switched off.' });
  }
  return scope.directory;
}

/**
 * Signs in by the password that a directory has. A name that it does not know takes the same steps and gets the same answer as
 * a wrong password.
 *
 * @throws signin_disabled, credentials_wrong, rate_limited, email_taken, email_invalid, upstream_failed
 */
export async function signInByLdap(
  scope: Scope<null>,
  { user, password }: { user: string; password: string },
): Promise<SessionUser> {
  const directory = requireDirectory(scope);
  // A password of nothing proves nothing, and directories take it: it never gets there.
  const isBlank = password.trim() === '';
  const entry = isBlank ? null : await asking(() => findOne(directory, user));
  // Directories take many spellings for one name, so attempts are counted by whom it found.
  const subject = `ldap:${entry?.subject ?? foldEmail(user)}`;
  const attempt = await scope.signinLimit.signIn(scope.request, subject);
  const dn = entry?.dn ?? nobody(directory);
  const fits = !isBlank && (await asking(() => directory.verify(dn, password)));
  if (!entry || !fits) {
    await noteFailure(scope, { email: user, method: 'ldap' });
    throw wrong();
  }
  await attempt.succeeded();
  const account = await admitPerson(scope, readPerson(directory, entry, user), {
    mayCreate: true,
    mayMerge: directory.mayMerge,
    update: { name: false, email: false, picture: false },
    groups: { source: 'ldap', create: directory.groups.create },
  });
  return startSession(scope, account, { method: 'ldap', subject });
}

/** @throws upstream_failed for whatever goes wrong with the directory */
async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unavailable(error);
  }
}

/** Who has that name; null when nobody has, or several. */
async function findOne(directory: Directory, user: string): Promise<DirectoryEntry | null> {
  const client = await directory.open();
  const found = await directory.search(client, user).finally(() => directory.close(client));
  return (found.length === 1 && found[0]) || null;
}

/** Bound to where there is no one entry, so that it takes as long. Nobody has that name. */
const nobody = ({ attributes, base }: Directory): string => `${attributes.username}=${randomUUID()},${base}`;

/** @throws email_invalid for somebody without an address */
function readPerson(directory: Directory, entry: DirectoryEntry, user: string): Person {
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
    name: displayName([entry.values(directory.attributes.name)[0], user]),
    role: undefined,
    groups: directory.groups.manage ? groupsOf(directory, entry) : undefined,
    picture: async () => undefined,
  };
}

/** The names of their groups, which the directory names by where they are: `cn=staff,ou=groups,dc=example,dc=com`. */
function groupsOf({ attributes }: Directory, entry: DirectoryEntry): string[] {
  return entry.values(attributes.groups).map((value) => {
    const [, name] = /^[^=,]+=((?:\\.|[^,+\\])+)/.exec(value) ?? [];
    return name === undefined ? value : unescapeName(name);
  });
}

/** A value within a name, as RFC 4514 escapes it: bytes of UTF-8 in hexadecimal, or one character. */
const unescapeName = (name: string): string =>
  name
    .replaceAll(/(?:\\[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('\\', ''), 'hex').toString())
    .replaceAll(/\\(.)/g, '$1');

/** The first address that is one: some directories keep aliases and old ones beside it. */
function addressOf({ attributes }: Directory, entry: DirectoryEntry): string | null {
  for (const value of entry.values(attributes.mail)) {
    try {
      if (isStorable(value)) return normaliseEmail(value);
    } catch {
      // The next may be one.
    }
  }
  return null;
}

/**
 * What a sign-in through the directory would do for somebody, each step with what it found. Asks for no password and changes nothing.
 *
 * @throws signin_disabled
 */
export async function testLdap(scope: Scope, user: string): Promise<LdapTest> {
  const directory = requireDirectory(scope);
  const steps: LdapStep[] = [];
  const note = (step: LdapStep['step'], ok: boolean, detail: string) => steps.push({ step, ok, detail });
  const answer = (dn: string | null): LdapTest => ({
    ok: steps.every(({ ok }) => ok),
    server: directory.url,
    filter: directory.filterFor(user).toString(),
    dn,
    steps,
  });

  let found: DirectoryEntry[];
  try {
    const client = await directory.open();
    note('connect', true, 'Connected and bound as who searches.');
    try {
      found = await directory.search(client, user);
    } catch (error) {
      note('search', false, describe(error));
      return answer(null);
    } finally {
      await directory.close(client);
    }
  } catch (error) {
    note('connect', false, describe(error));
    return answer(null);
  }
  const [entry] = found;
  note(
    'search',
    found.length === 1,
    `The filter finds ${['nobody', 'one entry'][found.length] ?? 'more than one entry'}.`,
  );
  if (found.length !== 1 || !entry) return answer(null);
  note('entry', true, `${entry.dn}, known as ${entry.subject}.`);
  const email = addressOf(directory, entry);
  const { mail } = directory.attributes;
  const addresses = entry.values(mail).join(', ');
  note('address', email !== null, email ?? `No usable address in ${mail}: ${addresses || 'it is empty'}.`);
  note('groups', true, describeGroups(directory, entry));
  if (email !== null) note('account', ...(await foreseeAccount(scope, directory, entry, email)));
  return answer(entry.dn);
}

function describeGroups(directory: Directory, entry: DirectoryEntry): string {
  const names = groupsOf(directory, entry).join(', ') || `none in ${directory.attributes.groups}`;
  const { manage, create } = directory.groups;
  if (!manage) return `${names}. They are not taken over: ENABLE_LDAP_GROUP_MANAGEMENT is off.`;
  return `${names}. Groups of these names are taken over${create ? ', and made where there are none' : ''}.`;
}

/** Which account they would get. */
async function foreseeAccount(
  scope: Scope,
  { mayMerge }: Directory,
  entry: DirectoryEntry,
  email: string,
): Promise<[ok: boolean, detail: string]> {
  const bound = await findIdentity(scope.sql, { issuer: ISSUER, subject: entry.subject });
  const account = await scope.em.findOne(User, bound === null ? { email } : { id: bound });
  const { default_user_role } = scope.configs.current.ui;
  if (!account) return [true, `A new account with the role ${default_user_role}.`];
  if (bound !== null) return [true, `Their account ${account.email} with the role ${account.role}.`];
  return mayMerge
    ? [true, `The account that has their address, with the role ${account.role}.`]
    : [false, 'Another account has their address; LDAP_MERGE_ACCOUNTS_BY_EMAIL is off.'];
}

const describe = (error: unknown): string => {
  if (error instanceof ResultCodeError) return `The directory refuses (code ${error.code}): ${error.message}`;
  return error instanceof Error ? error.message : String(error);
};
