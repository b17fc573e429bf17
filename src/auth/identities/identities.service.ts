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

/** Somebody whom a provider or the directory vouches for. */
export interface Person extends Subject {
  email: string;
  /** Whether who vouches has seen that the address is theirs. */
  emailVerified: boolean;
  name: string;
  /** What they are here; undefined when nothing is said of it. */
  role: Role | undefined;
  /** All groups that they are in; undefined when nothing is said of it, or nobody here wants to know. */
  groups: readonly string[] | undefined;
  /** Asks for their picture, as a data URI; undefined when they have none that we take. */
  picture: () => Promise<string | undefined>;
}

export interface Admission {
  mayCreate: boolean;
  /** Whether a person whose address is verified gets the account that has it already. */
  mayMerge: boolean;
  /** What is taken over at each sign-in. */
  update: { name: boolean; email: boolean; picture: boolean };
  /** Under which source they are in groups, and whether groups that nobody made are made. */
  groups: { source: 'oauth' | 'ldap'; create: boolean };
}

/**
 * The account of a person: the one that they are bound to, else that of their address, else a new one, as the rules allow, in
 * the groups that are said. At the same time for the same person, all get the same account.
 *
 * @throws signup_disabled, email_taken, email_invalid
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
    // Their other sign-in at the same moment may have taken the address for them, at any step of this one.
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

/** Takes over what the rules name and the person's role. A role that is another now ends the sessions that the old one had. */
async function refresh(
  scope: Scope<null>,
  known: UserEntity,
  person: Person,
  { update }: Admission,
): Promise<UserView> {
  const picture = update.picture ? await person.picture() : undefined;
  // Nothing else is written: an administrator may have changed the rest while the provider was asked.
  const said = {
    ...(update.email && person.emailVerified && { email: normaliseEmail(person.email) }),
    ...(update.name && { name: person.name }),
    ...(picture && { profile_image_url: picture }),
    ...(person.role && { role: person.role }),
  };
  if (!differs(known, { ...toView(known), ...said })) return toView(known);

  const { view, isOtherRole } = await transaction(scope, async (tx) => {
    await lockAdministrators(tx);
    const user = await tx.em.findOneOrFail(User, known.id);
    const before = toView(user);
    const wanted = { ...before, ...said };
    const { email } = wanted;
    const oldest = await findOldestAdministrator(tx.em);
    tx.em.assign(user, {
      ...said,
      // The oldest administrator is theirs alone to change, whatever others say of them.
      role: oldest?.id === user.id ? 'admin' : wanted.role,
      // An address that somebody else has here stays theirs.
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

/** What the audit log keeps of an account; a picture is not evidence. */
const tellable = ({ email, name, role }: Taken) => ({ email, name, role });
