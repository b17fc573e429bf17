import { v7 as uuidv7 } from 'uuid';
import { record } from '../audit/audit.record.ts';
import { difference } from '../audit/audit.values.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { transaction } from '../database/transaction.ts';
import { isTaken, type Refusal } from '../database/violations.ts';
import { noSuchGroup, tellMembers } from './groups.changes.ts';
import {
  DELETE_GRANTS_TO,
  DELETE_GROUP,
  findGroup,
  findVisibleGroup,
  insertGroup,
  LOCK_GROUP,
  listGroupsOf,
  listPeopleOf,
  listGroups as queryGroups,
  readExport,
  type StoredGroup,
  storeGroup,
} from './groups.repository.ts';
import type { GroupExport, GroupInfo, GroupView } from './groups.schema.ts';

const target = (id: string) => ({ type: 'group', id });

export const listGroups = (scope: Scope, { share }: { share?: boolean | undefined }): Promise<GroupView[]> =>
  queryGroups(scope.sql, scope.actor, share);

/** The groups of a person, the last changed first. */
export const listMemberships = (scope: Scope, userId: string): Promise<GroupView[]> =>
  listGroupsOf(scope.sql, userId);

/** @throws not_found */
export async function getGroup(scope: Scope, id: string): Promise<GroupView> {
  const group = await findGroup(scope.sql, id);
  if (!group) throw noSuchGroup();
  return group;
}

/**
 * What the caller may know about a group that the caller is in or may give rights to. @throws not_found for
 * any other
 */
export async function getGroupInfo(scope: Scope, id: string): Promise<GroupInfo> {
  const group = await findVisibleGroup(scope.sql, scope.actor, id);
  if (!group) throw noSuchGroup();
  return group;
}

/** @throws not_found */
export async function exportGroup(scope: Scope, id: string): Promise<GroupExport> {
  const group = await readExport(scope.sql, id);
  if (!group) throw noSuchGroup();
  return group;
}

export interface GroupForm {
  name: string;
  description: string;
  permissions?: GroupView['permissions'] | undefined;
  data?: GroupView['data'] | null | undefined;
  meta?: GroupView['meta'] | undefined;
}

/** Creates a group without members. @throws name_taken */
export async function createGroup(scope: Scope, form: GroupForm): Promise<GroupView> {
  const id = uuidv7();
  const { name, description, data = null, meta = null, permissions = null } = form;
  const group = { name, description, data, meta, permissions };
  await transaction(scope, async (tx) => {
    if (!(await insertGroup(tx, id, scope.actor.id, group, nowSeconds()))) throw new AppError('name_taken');
    await record(scope, tx, { action: 'group.create', target: target(id), after: group });
  });
  return getGroup(scope, id);
}

/** Null and undefined leave a member unchanged. */
type GroupChanges = { [Member in keyof GroupForm]?: GroupForm[Member] | null | undefined } & { id: string };

/** Changes the members that were sent and keeps the rest. @throws not_found, name_taken */
export async function updateGroup(scope: Scope, { id, ...changes }: GroupChanges): Promise<GroupView> {
  const members = await transaction(scope, async (tx) => {
    await tx.rows(LOCK_GROUP, { id });
    const stored = await findGroup(tx, id);
    if (!stored) throw noSuchGroup();
    const before = storedOf(stored);
    const after = { ...before, ...withoutAbsent(changes) };
    await storeGroup(tx, id, after, nowSeconds());
    const changed = difference(before, after);
    if (changed) await record(scope, tx, { action: 'group.update', target: target(id), ...changed });
    return changed && 'permissions' in changed.after ? listPeopleOf(tx, [id]) : [];
  }).catch((error: Refusal) => {
    throw isTaken(error) ? new AppError('name_taken', { cause: error }) : error;
  });
  tellMembers(scope, members);
  return getGroup(scope, id);
}

const storedOf = ({ name, description, data, meta, permissions }: GroupView): StoredGroup => ({
  name,
  description,
  data,
  meta,
  permissions,
});

const withoutAbsent = (changes: Omit<GroupChanges, 'id'>): Partial<StoredGroup> =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined && value !== null));

/** Deletes a group with its grants. Its people lose these rights at once. @throws not_found */
export async function deleteGroup(scope: Scope, id: string): Promise<true> {
  const members = await transaction(scope, async (tx) => {
    await tx.rows(LOCK_GROUP, { id });
    const group = await readExport(tx, id);
    if (!group) throw noSuchGroup();
    await tx.rows(DELETE_GRANTS_TO, { id });
    await tx.rows(DELETE_GROUP, { id });
    const { user_ids } = group;
    await record(scope, tx, {
      action: 'group.delete',
      target: target(id),
      before: { ...storedOf(group), user_ids },
    });
    return user_ids;
  });
  tellMembers(scope, members);
  return true;
}
