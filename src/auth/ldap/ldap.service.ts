import { randomUUID } from 'node:crypto';
import { AppError } from '../../core/errors.ts';
import type { Actor, Scope } from '../../core/scope.ts';
import { User } from '../../users/users.entity.ts';
import { findOldestAdministrator, foldEmail } from '../../users/users.service.ts';
import type { SessionUser } from '../auth.schema.ts';
import { noteFailure } from '../auth.service.ts';
import { startSession } from '../auth.start.ts';
import { findIdentity } from '../identities/identities.repository.ts';
import { admitPerson } from '../identities/identities.service.ts';
import type { Attempt } from '../limits/limits.ts';
import { type Directory, type DirectoryEntry, unavailable } from './ldap.directory.ts';
import { addressOf, decideRole, groupsOf, ISSUER, readPerson } from './ldap.person.ts';
import type { LdapStep, LdapTest } from './ldap.schema.ts';

const wrong = () => new AppError('credentials_wrong', { detail: 'The user name or the password is wrong.' });

function requireDirectory(scope: Scope<Actor | null>): Directory {
  if (!scope.directory) {
    throw new AppError('signin_disabled', { detail: 'Sign-in through a directory is switched off.' });
  }
  return scope.directory;
}

/**
 * Signs in by a password in the directory. An unknown name takes the same steps and gets the same answer as a
 * wrong password.
 *
 * @throws signin_disabled, credentials_wrong, rate_limited, email_taken, email_invalid, upstream_failed
 */
export async function signInByLdap(
  scope: Scope<null>,
  { user, password }: { user: string; password: string },
): Promise<SessionUser> {
  const directory = requireDirectory(scope);
  // Limited before the query, which costs the directory time.
  const attempt = await scope.signinLimit.begin(scope.request);
  // Directories accept a bind with an empty password, which proves nothing. An empty password is never sent.
  const isBlank = password.trim() === '';
  const entry = isBlank ? null : await asking(attempt, () => findOne(directory, user));
  // Directories accept many spellings of one name, so attempts are counted by the entry that was found.
  const subject = `ldap:${entry?.subject ?? foldEmail(user)}`;
  await attempt.about(subject);
  const dn = entry?.dn ?? unknownName(directory);
  const fits = !isBlank && (await asking(attempt, () => directory.verify(dn, password)));
  if (!entry || !fits) {
    await noteFailure(scope, { email: user, method: 'ldap' });
    throw wrong();
  }
  await attempt.giveBack();
  const account = await admitPerson(scope, readPerson(directory, entry, user), {
    mayCreate: true,
    mayMerge: directory.mayMerge,
    update: { ...directory.update, picture: false },
    groups: { source: 'ldap', create: directory.groups.create },
  });
  return startSession(scope, account, { method: 'ldap', subject });
}

/** @throws upstream_failed for any failure of the directory, which does not count as a failed attempt */
async function asking<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await attempt.giveBack();
    throw unavailable(error);
  }
}

/** The entry with that name; null if none or several match. */
async function findOne(directory: Directory, user: string): Promise<DirectoryEntry | null> {
  const client = await directory.open();
  const found = await directory.search(client, user).finally(() => directory.close(client));
  return (found.length === 1 && found[0]) || null;
}

/**
 * A name for the bind when no single entry was found, so that the answer takes as long. No entry has this
 * name.
 */
const unknownName = ({ attributes, base }: Directory): string =>
  `${attributes.username}=${randomUUID()},${base}`;

/**
 * Tests a sign-in through the directory: each step with its result. Asks for no password and changes nothing.
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
    filter: directory.filterFor(user),
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
      note('search', false, directory.describe(error));
      return answer(null);
    } finally {
      await directory.close(client);
    }
  } catch (error) {
    note('connect', false, directory.describe(error));
    return answer(null);
  }
  const [entry] = found;
  note(
    'search',
    found.length === 1,
    `The filter finds ${['no entry', 'one entry'][found.length] ?? 'more than one entry'}.`,
  );
  if (found.length !== 1 || !entry) return answer(null);
  note('entry', true, `${entry.dn}, known as ${entry.subject}.`);
  const email = addressOf(directory, entry);
  const { mail } = directory.attributes;
  const addresses = entry.values(mail).join(', ');
  note('address', email !== null, email ?? `No usable address in ${mail}: ${addresses || 'it is empty'}.`);
  note('groups', true, describeGroups(directory, entry));
  note('role', true, describeRole(directory, entry));
  if (email !== null) note('account', ...(await foreseeAccount(scope, directory, entry, email)));
  return answer(entry.dn);
}

function describeGroups(directory: Directory, entry: DirectoryEntry): string {
  const names = groupsOf(directory, entry).join(', ') || `none in ${directory.attributes.groups}`;
  const { manage, create } = directory.groups;
  if (!manage) return `${names}. They are not taken over: ENABLE_LDAP_GROUP_MANAGEMENT is off.`;
  return `${names}. Groups of these names are taken over${create ? ', and made where there are none' : ''}.`;
}

function describeRole(directory: Directory, entry: DirectoryEntry): string {
  const decided = decideRole(directory, entry);
  if (!decided) return 'Not taken from the directory: ENABLE_LDAP_ROLE_MANAGEMENT is off.';
  const { role, group } = decided;
  if (group !== null) return `${role}, by the group ${group}.`;
  return role === 'user'
    ? 'user, as every person whom the search finds: LDAP_ALLOWED_GROUPS is empty.'
    : `${role}: in no group of LDAP_ADMIN_GROUPS or LDAP_ALLOWED_GROUPS.`;
}

/** The account that the person would get, and its role after the sign-in. */
async function foreseeAccount(
  scope: Scope,
  directory: Directory,
  entry: DirectoryEntry,
  email: string,
): Promise<[ok: boolean, detail: string]> {
  const bound = await findIdentity(scope.sql, { issuer: ISSUER, subject: entry.subject });
  const account = await scope.em.findOne(User, bound === null ? { email } : { id: bound });
  const decided = decideRole(directory, entry)?.role;
  if (!account) {
    return [true, `A new account with the role ${decided ?? scope.configs.current.ui.default_user_role}.`];
  }
  if (bound === null && !directory.mayMerge) {
    return [false, 'Another account has their address; LDAP_MERGE_ACCOUNTS_BY_EMAIL is off.'];
  }
  const isOldest = (await findOldestAdministrator(scope.em))?.id === account.id;
  const role = isOldest ? 'admin, which the oldest administrator stays' : (decided ?? account.role);
  const whose = bound === null ? 'The account that has their address' : `Their account ${account.email}`;
  return [true, `${whose}, with the role ${role}.`];
}
