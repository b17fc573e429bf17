import { AppError, invalid, noSuchUser } from '../core/errors.ts';
import { limitAtOnce } from '../core/limits/limits.ts';
import type { Role, Scope } from '../core/scope.ts';
import { id } from '../core/wire.ts';
import { getGroup } from '../groups/groups.service.ts';
import { type GroupMembers, orderOf, type PageInput } from './people.schema.ts';
import { imageForOthers } from './users.picture.ts';
import {
  countActivePeople,
  keyTypeOf,
  listPeople,
  listPeopleIn,
  listPeopleWithin,
  type OwnAccount,
  type PersonIn,
  type Position,
  listUsers as queryUsers,
  readAdministrator,
  readDetail,
  readInfo,
  type UserPage,
} from './users.repository.ts';
import type { UserDetail, UserInfo, UserListing, UserOrder } from './users.schema.ts';
import { foldEmail } from './users.service.ts';

interface CursorPage<View> {
  users: View[];
  total?: number;
  next_cursor: string | null;
}

/** Accounts as administrators see them. @throws validation for a cursor of another order or form */
export const listUsers = async (
  scope: Scope,
  { role, ...input }: PageInput & { role?: Role | undefined },
): Promise<CursorPage<UserListing>> => written(await queryUsers(scope.sql, { ...queryOf(input), role }));

/** Each search scans all accounts twice in parallel, and so holds two database connections. */
const enter = limitAtOnce(4, 'searches for people');

/**
 * People as they see each other. Administrators also see accounts that wait for approval.
 *
 * @throws validation, forbidden for the order of a group, rate_limited if too many searches are running
 */
export async function searchPeople(scope: Scope, input: PageInput): Promise<CursorPage<UserInfo>> {
  const query = queryOf(input);
  if (query.order_by === 'group_id' && scope.actor.role !== 'admin') {
    throw new AppError('forbidden', { detail: 'Only administrators put people in the order of a group.' });
  }
  const leave = enter(scope.actor.id);
  return written(await listPeople(scope.sql, scope.actor.role === 'admin', query).finally(leave));
}

/** More people than a client shows at once. */
const ALL = 10_000;

/** The newest 10,000 people, newest first. */
export const listNewest = (scope: Scope): Promise<CursorPage<UserInfo>> =>
  listPeople(scope.sql, true, { order_by: 'created_at', direction: 'desc', limit: ALL, offset: 0 }).then(
    written,
  );

/** The people of a group, by name. @throws not_found */
export async function listInGroup(scope: Scope, groupId: string): Promise<UserInfo[]> {
  await getGroup(scope, groupId);
  return listPeopleIn(scope.sql, groupId);
}

/**
 * Orders whose first page starts with the most requested rows: the newest accounts, or the members of the
 * group.
 */
const DESCENDING: readonly UserOrder[] = ['created_at', 'group_id'];

/** The number of people who were active within the last three minutes. */
export const countActive = ({ sql }: Scope): Promise<number> => countActivePeople(sql);

const MEMBERS_A_PAGE = 30;

interface MembersQuery {
  id: string;
  membership: 'direct' | 'inherited' | 'effective';
  query?: string | undefined;
  page: number;
}

/** The people of a group and of the groups below it, by name. @throws not_found */
export async function listMembersOf(
  scope: Scope,
  { id, membership, query, page }: MembersQuery,
): Promise<GroupMembers> {
  await getGroup(scope, id);
  const people = await listPeopleWithin(scope.sql, id);
  const direct = people.filter(({ is_direct }) => is_direct).length;
  const wanted = query?.toLowerCase() ?? '';
  const matches = ({ name, email, is_direct }: PersonIn) =>
    `${name}\n${email}`.toLowerCase().includes(wanted) &&
    (membership === 'effective' || is_direct === (membership === 'direct'));
  const matching = people.filter(matches);
  const shown = matching.slice((page - 1) * MEMBERS_A_PAGE, page * MEMBERS_A_PAGE);
  return {
    items: shown.map((person) => ({
      ...person,
      membership_type: person.is_direct ? ('direct' as const) : ('inherited' as const),
    })),
    total: matching.length,
    counts: { direct, effective: people.length, inherited: people.length - direct },
  };
}

function queryOf({ page, limit, cursor, query, ...input }: PageInput) {
  const by = orderOf(input.order_by);
  const after = cursor === undefined ? undefined : readCursor(cursor, by.order_by);
  const direction = input.direction ?? (DESCENDING.includes(by.order_by) ? 'desc' : 'asc');
  const order = { query, ...by, direction };
  return { ...order, limit, offset: after ? 0 : (page - 1) * limit, after } as const;
}

const written = <View>({ users, total, next }: UserPage<View>): CursorPage<View> => ({
  users,
  ...(total !== null && { total }),
  next_cursor: next && Buffer.from(JSON.stringify([next.key, next.ordinal])).toString('base64url'),
});

function readCursor(cursor: string, order: UserOrder): Position {
  try {
    const [key, ordinal] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const isKey =
      typeof key === keyTypeOf(order) && (typeof key === 'string' ? !key.includes('\0') : isSmall(key));
    if (isKey && isSmall(ordinal)) return { key, ordinal };
  } catch {
    // Not a cursor of this server; refused like any other malformed cursor.
  }
  throw invalid('cursor', 'must be the next_cursor of a page in the same order');
}

/** Whether the value fits a PostgreSQL `int`. */
const isSmall = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(Number(value)) < 2 ** 31;

/** @throws not_found if the text cannot be an account id */
export function knownUserId(sent: string): string {
  const { success, data } = id().safeParse(sent);
  if (!success) throw noSuchUser();
  return data;
}

/** @throws not_found */
export async function getDetail(scope: Scope, id: string): Promise<UserDetail> {
  const detail = await readDetail(scope.sql, id);
  if (!detail) throw noSuchUser();
  const { profile_image_url: image } = detail;
  const profile_image_url = id === scope.actor.id ? image : imageForOthers(id, image);
  return { ...detail, profile_image_url, is_active: detail.is_active || isConnected(scope, id) };
}

/** The caller's own account, without a status that has expired. */
export async function getOwnAccount({ sql, actor, keptAccounts }: Scope): Promise<OwnAccount> {
  const account = await keptAccounts.read(sql, actor.id);
  if (!account) throw noSuchUser();
  const { status_expires_at: end } = account;
  if (end === null || end > Date.now() / 1000) return account;
  return { ...account, status_emoji: null, status_message: null, status_expires_at: null };
}

/** The account as the caller may see it. @throws not_found also for an account that waits for approval */
export async function getInfo(scope: Scope, id: string): Promise<UserInfo> {
  const info = await readInfo(scope.sql, scope.actor, id);
  if (!info) throw noSuchUser();
  return { ...info, is_active: info.is_active || isConnected(scope, id) };
}

/**
 * The contact for approval: the address in the configuration, else the oldest administrator. @throws
 * forbidden if the contact is not shown
 */
export async function whomToAsk({ sql, configs }: Scope): Promise<{ name: string | null; email: string }> {
  const { show, email } = configs.current.auth.admin;
  const named = email?.trim() || null;
  const administrator = show ? await readAdministrator(sql, named && foldEmail(named)) : undefined;
  if (administrator) return administrator;
  // An administrator always exists. The configured address may be a shared mailbox without an account.
  if (!show || named === null) throw new AppError('forbidden');
  return { name: null, email: named };
}

const isConnected = ({ presence }: Scope, id: string) => presence.connectedAmong([id]).has(id);

/** Whether a person is connected, or was active within the last three minutes. False for an unknown id. */
export async function isActive(scope: Scope, id: string): Promise<{ active: boolean }> {
  const info = await readInfo(scope.sql, scope.actor, id);
  return { active: info !== undefined && (info.is_active || isConnected(scope, id)) };
}
