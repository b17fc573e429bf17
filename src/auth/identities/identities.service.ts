import { record } from '../../audit/audit.record.ts';
import { AppError } from '../../core/errors.ts';
import type { Role, Scope } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import { transaction } from '../../database/transaction.ts';
import { syncMemberships } from '../../groups/members.service.ts';
import { User, type UserEntity } from '../../users/users.entity.ts';
import { lockAdministrators } from '../../users/users.repository.ts';
import type { UserView } from '../../users/users.schema.ts';
import { addUser, findOldestAdministrator, normaliseEmail, toView } from '../../users/users.service.ts';
import { Session } from '../sessions/session.entity.ts';
import { addIdentity, findIdentity, type Subject } from './identities.repository.ts';

/** A person that a provider or the directory has identified. */
export interface Person extends Subject {
  email: string;
  /** Whether the provider or the directory verified the address. */
  emailVerified: boolean;
  name: string;
  /** The person's role; undefined if the source does not state one. */
  role: Role | undefined;
  /** All groups of the person; undefined if the source states none, or groups are not managed. */
  groups: readonly string[] | undefined;
  /** Fetches the picture as a data URI; undefined if there is no picture of an accepted type. */
  picture: () => Promise<string | undefined>;
}

export interface Admission {
  mayCreate: boolean;
  /** Whether a person with a verified address gets the existing account with that address. */
  mayMerge: boolean;
  /** The fields updated at each sign-in. */
  update: { name: boolean; email: boolean; picture: boolean };
  /** The source of the memberships, and whether missing groups are created. */
  groups: { source: 'oauth' | 'ldap'; create: boolean };
}

/**
 * The account of a person: the bound account, else the account with the address, else a new one, as the rules
 * allow. Sets the groups that the source states. Concurrent sign-ins of one person get the same account.
 *
 * @throws signup_disabled, email_taken, email_invalid, credentials_wrong if the account was deleted meanwhile
 */
export async function admitPerson(
  scope: Scope<null>,
  person: Person,
  admission: Admission,
): Promise<UserView> {
  const user = await findOrCreate(scope, person, admission);
  if (person.groups) {
    await syncMemberships(scope, { userId: user.id, names: person.groups, ...admission.groups });
  }
  return user;
}

async function findOrCreate(scope: Scope<null>, person: Person, admission: Admission): Promise<UserView> {
  try {
    const known = await findAccount(scope, person, admission);
    if (known) return await refresh(scope, known, person, admission);
    if (!admission.mayCreate) throw new AppError('signup_disabled');
    return await createAccount(scope, person);
  } catch (error) {
    // A concurrent sign-in of the same person may have taken the address, at any step of this one.
    const isTaken = error instanceof AppError && error.code === 'email_taken';
    const id = isTaken ? await findIdentity(scope.sql, person) : null;
    if (id === null) throw error;
    return toView(await scope.em.findOneOrFail(User, id));
  }
}

async function findAccount(
  scope: Scope<null>,
  person: Person,
  { mayMerge }: Admission,
): Promise<UserEntity | null> {
  const id = await findIdentity(scope.sql, person);
  if (id !== null) return scope.em.findOne(User, id);
  const user = await scope.em.findOne(User, { email: normaliseEmail(person.email) });
  if (!user) return null;
  if (!mayMerge || !person.emailVerified) throw new AppError('email_taken');
  await transaction(scope, async (tx) => {
    if (!(await addIdentity(tx, person, user.id))) throw new AppError('email_taken');
    await record(scope, tx, {
      action: 'user.link',
      target: { type: 'user', id: user.id },
      after: { issuer: person.issuer, subject: person.subject },
      by: { id: user.id, email: user.email, sessionId: null },
    });
  });
  return user;
}

async function createAccount(scope: Scope<null>, person: Person): Promise<UserView> {
  const profile_image_url = await person.picture();
  const user = await transaction(scope, async (tx) => {
    const view = await addUser(scope, tx, {
      email: person.email,
      name: person.name,
      password_hash: null,
      role: person.role ?? scope.configs.current.ui.default_user_role,
      profile_image_url,
    });
    if (!(await addIdentity(tx, person, view.id))) throw new AppError('email_taken');
    return view;
  });
  scope.onSignUp(user);
  return user;
}

/**
 * Updates the fields that the rules name, and the role. A changed role ends the sessions with the old role.
 */
async function refresh(
  scope: Scope<null>,
  known: UserEntity,
  person: Person,
  { update }: Admission,
): Promise<UserView> {
  const picture = update.picture ? await person.picture() : undefined;
  // Nothing else is written: an administrator may have changed other fields while the provider answered.
  const said = {
    ...(update.email && person.emailVerified && { email: normaliseEmail(person.email) }),
    ...(update.name && { name: person.name }),
    ...(picture && { profile_image_url: picture }),
    ...(person.role && { role: person.role }),
  };
  if (!differs(known, { ...toView(known), ...said })) return toView(known);

  if (known.role !== (said.role ?? known.role)) await scope.bus.tell('auth.ending', { userId: known.id });
  const { view, isOtherRole } = await transaction(scope, async (tx) => {
    await lockAdministrators(tx);
    const user = await tx.em.findOne(User, known.id);
    // The account was deleted while the provider answered.
    if (!user) throw new AppError('credentials_wrong', { detail: 'The account was deleted just now.' });
    const before = toView(user);
    const wanted = { ...before, ...said };
    const { email } = wanted;
    const oldest = await findOldestAdministrator(tx.em);
    tx.em.assign(user, {
      ...said,
      // A source never changes the role of the oldest administrator.
      role: oldest?.id === user.id ? 'admin' : wanted.role,
      // An address that another account has stays with that account.
      email: (await tx.em.count(User, { email, id: { $ne: user.id } })) > 0 ? before.email : email,
    });
    if (!differs(before, toView(user))) return { view: before, isOtherRole: false };
    tx.em.assign(user, { updated_at: nowSeconds() });
    await tx.em.flush();
    const view = toView(user);
    const isOtherRole = before.role !== view.role;
    if (isOtherRole) await tx.em.nativeDelete(Session, { user: user.id });
    await record(scope, tx, {
      action: 'user.update',
      target: { type: 'user', id: user.id },
      before: tellable(before),
      after: tellable(view),
      by: { id: user.id, email: user.email, sessionId: null },
    });
    return { view, isOtherRole };
  });
  if (isOtherRole) scope.bus.publish('auth.revoked', { userId: view.id, sessionId: null });
  else scope.bus.publish('auth.changed', { userId: view.id });
  return view;
}

type Taken = Pick<UserView, 'email' | 'name' | 'profile_image_url'> & { role: string };

const differs = (a: Taken, b: Taken): boolean =>
  a.email !== b.email ||
  a.name !== b.name ||
  a.role !== b.role ||
  a.profile_image_url !== b.profile_image_url;

/** The fields that the audit log keeps; it does not keep pictures. */
const tellable = ({ email, name, role }: Taken) => ({ email, name, role });
