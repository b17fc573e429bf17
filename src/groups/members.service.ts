import { record } from '../audit/audit.record.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { plainName } from '../core/wire.ts';
import type { Sql } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { noSuchGroup, tellMembers } from './groups.changes.ts';
import { LOCK_GROUP } from './groups.repository.ts';
import type { GroupView, Source } from './groups.schema.ts';
import { getGroup } from './groups.service.ts';
import {
  addMembers as addRows,
  CREATE_NAMED,
  JOIN_NAMED,
  LEAVE_OTHERS,
  LOCK_PERSON,
  removeMembers as removeRows,
} from './members.repository.ts';

type Change = (sql: Sql) => Promise<string[]>;

async function changeMembers(
  scope: Scope,
  groupId: string,
  action: 'group.add' | 'group.remove',
  change: Change,
): Promise<GroupView> {
  const userIds = await transaction(scope, async (tx) => {
    // Locked until the end, so that the group is not deleted meanwhile.
    if ((await tx.rows(LOCK_GROUP, { id: groupId })).length === 0) throw noSuchGroup();
    const changed = await change(tx);
    if (changed.length > 0) {
      const side = action === 'group.add' ? 'after' : 'before';
      await record(scope, tx, {
        action,
        target: { type: 'group', id: groupId },
        [side]: { user_ids: changed },
      });
    }
    return changed;
  });
  tellMembers(scope, userIds);
  return getGroup(scope, groupId);
}

/** Adds people to a group by hand. Ids without an account are left out. @throws not_found */
export const addMembers = (scope: Scope, groupId: string, userIds: string[]): Promise<GroupView> =>
  changeMembers(scope, groupId, 'group.add', (sql) =>
    addRows(sql, groupId, userIds, { source: 'manual', at: nowSeconds() }),
  );

/**
 * Removes people from a group, for all sources. The next sign-in adds them again if the provider names the
 * group.
 *
 * @throws not_found
 */
export const removeMembers = (scope: Scope, groupId: string, userIds: string[]): Promise<GroupView> =>
  changeMembers(scope, groupId, 'group.remove', (sql) => removeRows(sql, groupId, userIds));

export interface Membership {
  userId: string;
  source: Exclude<Source, 'manual'>;
  /**
   * The names of all groups of the person, according to the source. They match exactly; names that no group
   * can have are ignored.
   */
  names: readonly string[];
  /** Whether to create missing groups. */
  create: boolean;
}

const GroupName = plainName(256);

/**
 * Sets the groups of a person according to a source, such as a provider. Memberships by hand or by other
 * sources stay. Do not call it if the source gave no information about groups: that does not mean "no
 * groups".
 *
 * @returns the ids of the groups that the person joined and left, for this source
 */
export async function syncMemberships(
  scope: Pick<Scope<Actor | null>, 'sql' | 'bus' | 'actor' | 'request'>,
  { userId, source, names, create }: Membership,
): Promise<{ joined: string[]; left: string[] }> {
  const wanted = [...new Set(names.filter((name) => GroupName.safeParse(name).data === name))];
  const at = nowSeconds();
  const { joined, left } = await transaction(scope, async (tx) => {
    // Of two concurrent sign-ins, the second waits for the first. No row: the account was deleted.
    if ((await tx.rows(LOCK_PERSON, { userId })).length === 0) return { joined: [], left: [] };
    const made = create ? await tx.rows(CREATE_NAMED, { userId, names: wanted, at }) : [];
    const left = (await tx.rows(LEAVE_OTHERS, { userId, source, names: wanted })).map(
      ({ group_id }) => group_id,
    );
    const joined = (await tx.rows(JOIN_NAMED, { userId, source, names: wanted, at })).map(
      ({ group_id }) => group_id,
    );
    if (joined.length + left.length > 0) {
      const after = { source, joined, left, ...(made.length > 0 && { made }) };
      await record(scope, tx, { action: 'group.sync', target: { type: 'user', id: userId }, after });
    }
    return { joined, left };
  });
  if (joined.length + left.length > 0) tellMembers(scope, [userId]);
  return { joined, left };
}
