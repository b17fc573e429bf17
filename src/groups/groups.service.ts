import { v7 as uuidv7 } from 'uuid';
import { record } from '../audit/audit.record.ts';
import { difference } from '../audit/audit.values.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { isTaken, type Refusal } from '../database/violations.ts';
import { noSuchGroup, tellMembers } from './groups.changes.ts';
import {
  DELETE_GRANTS_TO,
  DELETE_GROUP,
  findGroup,
  findVisibleGroup,
  type GroupPermissions,
  insertGroup,
  LOCK_GROUP,
  LOCK_TREE,
  listAllGroupsOf,
  listGroupsOf,
  listPeopleOf,
  PROMOTE_CHILDREN,
  placeGroup,
  listGroups as queryGroups,
  readExport,
  readPermissions,
  readPlace,
  type StoredGroup,
  storeGroup,
} from './groups.repository.ts';
import type { GroupExport, GroupInfo, GroupView, Membership } from './groups.schema.ts';

const target = (id: string) => ({ type: 'group', id });

export const listGroups = (scope: Scope, { share }: { share?: boolean | undefined }): Promise<GroupView[]> =>
  queryGroups(scope.sql, scope.actor, share);

/**
 * The groups that a person was added to, the last changed first.
 *
 * @param withInherited also the groups above them, each with its `membership_type`
 */
export const listMemberships = (
  scope: Scope,
  userId: string,
  withInherited: boolean,
): Promise<Membership[]> =>
  withInherited ? listAllGroupsOf(scope.sql, userId) : listGroupsOf(scope.sql, userId);

/** The permissions of a group, and those that its people have from the groups above it. @throws not_found */
export async function getPermissions({ sql }: Scope, id: string): Promise<GroupPermissions> {
  const group = await readPermissions(sql, id);
  if (!group) throw noSuchGroup();
  return group;
}

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
  parent_group_id?: string | null | undefined;
}

/** The transaction has locked the tree. @throws not_found, bad_request for a circle */
async function requirePlace(tx: Sql, id: string, parentId: string): Promise<void> {
  const { is_there, is_below } = await readPlace(tx, id, parentId);
  if (!is_there) throw new AppError('not_found', { detail: 'parent_group_id: there is no such group.' });
  if (is_below) {
    const detail = 'parent_group_id: must not be the group itself or a group below it.';
    throw new AppError('bad_request', { detail });
  }
}

/** Creates a group without members. @throws name_taken, not_found for its parent */
export async function createGroup(scope: Scope, form: GroupForm): Promise<GroupView> {
  const id = uuidv7();
  const { name, description, data = null, meta = null, permissions = null, parent_group_id = null } = form;
  const group = { parent_group_id, name, description, data, meta, permissions };
  await transaction(scope, async (tx) => {
    if (parent_group_id !== null) {
      await tx.rows(LOCK_TREE);
      await requirePlace(tx, id, parent_group_id);
    }
    if (!(await insertGroup(tx, id, scope.actor.id, group, nowSeconds()))) throw new AppError('name_taken');
    if (parent_group_id !== null) await placeGroup(tx, id);
    await record(scope, tx, { action: 'group.create', target: target(id), after: group });
  });
  return getGroup(scope, id);
}

/** Null and undefined leave a member unchanged, but for the parent, which null removes. */
type GroupChanges = { [Member in keyof GroupForm]?: GroupForm[Member] | null | undefined } & { id: string };

/** Changes the members that were sent and keeps the rest. @throws not_found, name_taken, bad_request for a circle */
export async function updateGroup(scope: Scope, { id, ...changes }: GroupChanges): Promise<GroupView> {
  const { parent_group_id: parentId } = changes;
  const members = await transaction(scope, async (tx) => {
    if (parentId !== undefined) await tx.rows(LOCK_TREE);
    await tx.rows(LOCK_GROUP, { id });
    const stored = await findGroup(tx, id);
    if (!stored) throw noSuchGroup();
    if (parentId) await requirePlace(tx, id, parentId);
    const before = storedOf(stored);
    const after = {
      ...before,
      ...withoutAbsent(changes),
      ...(parentId === null && { parent_group_id: null }),
    };
    await storeGroup(tx, id, after, nowSeconds());
    const changed = difference(before, after);
    if (!changed) return [];
    if ('parent_group_id' in changed.after) await placeGroup(tx, id);
    await record(scope, tx, { action: 'group.update', target: target(id), ...changed });
    const isRightChanged = 'permissions' in changed.after || 'parent_group_id' in changed.after;
    return isRightChanged ? listPeopleOf(tx, [id]) : [];
  }).catch((error: Refusal) => {
    throw isTaken(error) ? new AppError('name_taken', { cause: error }) : error;
  });
  tellMembers(scope, members);
  return getGroup(scope, id);
}

const storedOf = ({
  parent_group_id,
  name,
  description,
  data,
  meta,
  permissions,
}: GroupView): StoredGroup => ({
  parent_group_id,
  name,
  description,
  data,
  meta,
  permissions,
});

const withoutAbsent = (changes: Omit<GroupChanges, 'id'>): Partial<StoredGroup> =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined && value !== null));

/**
 * Deletes a group with its grants. Its people lose these rights at once; the groups directly below it move to
 * its parent. @throws not_found
 */
export async function deleteGroup(scope: Scope, id: string): Promise<true> {
  const members = await transaction(scope, async (tx) => {
    await tx.rows(LOCK_TREE);
    await tx.rows(LOCK_GROUP, { id });
    const group = await readExport(tx, id);
    if (!group) throw noSuchGroup();
    const people = await listPeopleOf(tx, [id]);
    const children = await tx.rows(PROMOTE_CHILDREN, { id, at: nowSeconds() });
    await tx.rows(DELETE_GRANTS_TO, { id });
    await tx.rows(DELETE_GROUP, { id });
    const { user_ids } = group;
    const child_ids = children.map((child) => child.id);
    await record(scope, tx, {
      action: 'group.delete',
      target: target(id),
      before: { ...storedOf(group), user_ids, ...(child_ids.length > 0 && { child_ids }) },
    });
    return people;
  });
  tellMembers(scope, members);
  return true;
}
