import { onReplica, type Sql, type Statement, statement } from '../database/sql.ts';
import type { UserDetail, UserInfo, UserListing, UserOrder, UserView } from './users.schema.ts';

/**
 * The SQL sort key of each order, and its type. The ordinal breaks ties, except in orders whose keys are
 * unique. Each order has an index that gives the position of an account (`users.entity.ts`).
 */
const KEYS: Record<UserOrder, { key: string; type: 'text' | 'int'; place?: 'email' }> = {
  created_at: { key: 'u.ordinal', type: 'int' },
  name: { key: 'lower(u.name)', type: 'text' },
  email: { key: 'u.email', type: 'text', place: 'email' },
  role: { key: 'u.role', type: 'text' },
  last_active_at: { key: 'u.last_active_at', type: 'int' },
  updated_at: { key: 'u.updated_at', type: 'int' },
  group_id: { key: '', type: 'int' },
};

/** SQL for whether the row `u` is in the group that was named, as a number. */
const MEMBERSHIP = `(exists (select from group_member gm where gm.group_id = :groupId::text and gm.user_id = u.id))::int`;

/** The end of a page; the next page begins after it. */
export interface Position {
  key: string | number;
  ordinal: number;
}

/** The type of the key in a position. */
export const keyTypeOf = (order: UserOrder) => (KEYS[order].type === 'int' ? 'number' : 'string');

/*
 * `wanted` is the search text in lower case. Administrators find every account. Other callers find approved
 * accounts, by a part of the name or by the whole address: a search by parts of addresses would let any user
 * collect them.
 */
const MATCHES = `(:callerIsAdmin or u.role <> 'pending') and (:role::text is null or u.role = :role) and (:wanted::text is null or position(:wanted in lower(u.name)) > 0
  or position(:wanted in lower(coalesce(u.username, ''))) > 0
  or case when :callerIsAdmin then position(:wanted in u.email) > 0 else u.email = :wanted end)`;

/** `MATCHES` for a search without text by an administrator. All accounts match, so no column is read. */
const ALL = ':wanted::text is null and :role::text is null and :callerIsAdmin::boolean';

/** SQL: whether the row `u` was active within the last three minutes. */
export const IS_ACTIVE = '(u.last_active_at >= extract(epoch from now())::int - 180)';
const IMAGE = `'/api/v1/users/' || u.id || '/profile/image'`;
const STATUS = ['status_emoji', 'status_message', 'status_expires_at']
  .map(
    (name) =>
      `case when u.status_expires_at is null or u.status_expires_at > extract(epoch from now()) then u.${name} end as ${name}`,
  )
  .join(', ');

/** SQL: the groups of the row `u` that satisfy a condition on `gp`. */
const groups = (condition: string) =>
  `coalesce((select json_agg(json_build_object('id', gp.id, 'name', gp.name) order by gp.name) from user_group gp
     where gp.id in (select gm.group_id from group_member gm where gm.user_id = u.id) and ${condition}), '[]'::json)`;

/** SQL: the ways by which the row `u` can sign in. */
const SIGN_IN = `array_remove(case when u.password_hash is null then null else 'password' end
  || array(select i.issuer from identity i where i.user_id = u.id order by 1), null)`;

const LISTING = `u.id, u.email, u.username, u.role, u.name, ${IMAGE} as profile_image_url, u.last_active_at, u.updated_at,
  u.created_at, array(select distinct gm.group_id from group_member gm where gm.user_id = u.id order by 1) as group_ids,
  ${SIGN_IN} as sign_in`;
const INFO = `u.id, u.name, case when :callerIsAdmin then u.email end as email, u.role, u.bio, ${IS_ACTIVE} as is_active, ${STATUS},
  '[]'::json as groups`;

type Row<View> = View & { position_key: string | number; position_ordinal: number };
type Direction = 'asc' | 'desc';

interface MatchParams {
  wanted: string | null;
  role: string | null;
  callerIsAdmin: boolean;
}

/** Those after `skip` are for pages behind a position, and of the order by a group. */
interface PageParams extends MatchParams {
  limit: number;
  skip: number;
  afterKey: string | number | null;
  afterOrdinal: number | null;
  groupId: string | null;
}

/** The columns of each account: a list for administrators, or a list of people. */
interface View<Shown> {
  name: string;
  columns: string;
  /** Statements created so far, by name. */
  made: Map<string, Statement<Row<Shown>, PageParams>>;
}
const LISTINGS: View<UserListing> = { name: 'users.list', columns: LISTING, made: new Map() };
const INFOS: View<UserInfo> = { name: 'users.infos', columns: INFO, made: new Map() };

interface Kind {
  order: UserOrder;
  direction: Direction;
  /** Whether the page begins after a position. */
  isAfter: boolean;
  /** Whether all accounts are listed. */
  isOfAll: boolean;
}

function pageOf<Shown>(view: View<Shown>, kind: Kind): Statement<Row<Shown>, PageParams> {
  const { order, direction, isAfter, isOfAll } = kind;
  const name = [view.name, order, direction, isAfter ? 'after' : 'first', isOfAll ? 'all' : 'some'].join('.');
  let made = view.made.get(name);
  if (!made) {
    const { type, place = 'ordinal' } = KEYS[order];
    const key = order === 'group_id' ? MEMBERSHIP : KEYS[order].key;
    const sign = direction === 'asc' ? '>' : '<';
    const after = isAfter ? `and (${key}, u.ordinal) ${sign} (:afterKey::${type}, :afterOrdinal::int)` : '';
    // Up to the offset only positions are read, from a covering index. Then the accounts of the page are
    // joined.
    made = onReplica(
      statement(
        name,
        `with places as (
         select u.${place} from users u where ${isOfAll ? ALL : MATCHES} ${after}
          order by ${key} ${direction}, u.${place} ${direction} limit :limit offset :skip)
       select ${view.columns}, ${key} as position_key, u.ordinal as position_ordinal
         from places join users u using (${place}) order by ${key} ${direction}, u.ordinal ${direction}`,
      ),
    );
    view.made.set(name, made);
  }
  return made;
}

const COUNT = onReplica(
  statement<{ total: number }, MatchParams>(
    'users.count',
    `select count(*)::int as total from users u where ${MATCHES}`,
  ),
);
const COUNT_ALL = onReplica(
  statement<{ total: number }, MatchParams>(
    'users.count.all',
    `select count(*)::int as total from users u where ${ALL}`,
  ),
);

export interface UserQuery {
  query?: string | undefined;
  /** Only accounts with this role. */
  role?: string | undefined;
  order_by: UserOrder;
  /** For the order `group_id`. */
  group_id?: string | undefined;
  direction: Direction;
  limit: number;
  /** How many accounts to skip before the page. */
  offset: number;
  after?: Position | undefined;
}

export interface UserPage<Shown> {
  users: Shown[];
  /** Null if the page was requested by position: the client got the total with the first page. */
  total: number | null;
  next: Position | null;
}

async function readPage<Shown>(
  sql: Sql,
  view: View<Shown>,
  isAdmin: boolean,
  { query, role, order_by: order, group_id: groupId, direction, limit, offset, after }: UserQuery,
): Promise<UserPage<Shown>> {
  const wanted = query?.toLowerCase() || null;
  const isOfAll = isAdmin && wanted === null && role === undefined;
  const matching = { wanted, role: role ?? null, callerIsAdmin: isAdmin };
  const page = pageOf(view, { order, direction, isAfter: after !== undefined, isOfAll });
  const [rows, counted] = await Promise.all([
    sql.rows(page, {
      ...matching,
      // One more row than the page tells whether another page exists.
      limit: limit + 1,
      skip: offset,
      afterKey: after?.key ?? null,
      afterOrdinal: after?.ordinal ?? null,
      groupId: groupId ?? null,
    }),
    after ? [] : sql.rows(isOfAll ? COUNT_ALL : COUNT, matching),
  ]);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    users: shown,
    total: counted[0]?.total ?? null,
    next: last ? { key: last.position_key, ordinal: last.position_ordinal } : null,
  };
}

/** A page of accounts, as administrators see them, in two statements. */
export const listUsers = (sql: Sql, query: UserQuery) => readPage(sql, LISTINGS, true, query);

/** A page of people, as they see each other, in two statements. */
export const listPeople = (sql: Sql, isAdmin: boolean, query: UserQuery) =>
  readPage(sql, INFOS, isAdmin, query);

const IN_GROUP = statement<UserInfo, { groupId: string; callerIsAdmin: boolean }>(
  'users.in_group',
  `select ${INFO} from users u where :callerIsAdmin and u.id in (select gm.user_id from group_member gm where gm.group_id = :groupId)
    order by lower(u.name), u.ordinal`,
);

/** The people of a group, as administrators see them. */
export const listPeopleIn = (sql: Sql, groupId: string): Promise<UserInfo[]> =>
  sql.rows(IN_GROUP, { groupId, callerIsAdmin: true });

/** Someone in a group or in a group below it. */
export interface PersonIn extends UserInfo {
  is_direct: boolean;
  /** The groups below through which the person is in the group. */
  via_group_ids: string[];
}

const WITHIN_GROUP = statement<PersonIn, { groupId: string; callerIsAdmin: boolean }>(
  'users.within_group',
  `select ${INFO}, m.is_direct, m.via_group_ids from users u join (
       select gm.user_id, bool_or(gm.group_id = :groupId) as is_direct,
              coalesce(array_agg(distinct gm.group_id) filter (where gm.group_id <> :groupId), '{}') as via_group_ids
         from group_member gm
        where gm.group_id = :groupId or gm.group_id in (select ga.group_id from group_ancestor ga where ga.ancestor_id = :groupId)
        group by gm.user_id) m on m.user_id = u.id
    where :callerIsAdmin order by lower(u.name), u.ordinal`,
);

/** The people of a group and of the groups below it, as administrators see them. */
export const listPeopleWithin = (sql: Sql, groupId: string): Promise<PersonIn[]> =>
  sql.rows(WITHIN_GROUP, { groupId, callerIsAdmin: true });

const COUNT_ACTIVE = statement<{ total: number }>(
  'users.count_active',
  `select count(*)::int as total from users u where ${IS_ACTIVE}`,
);

export async function countActivePeople(sql: Sql): Promise<number> {
  const [row] = await sql.rows(COUNT_ACTIVE);
  return row?.total ?? 0;
}

const DETAIL = statement<UserDetail, { id: string }>(
  'users.detail',
  `select u.id, u.email, u.username, u.role, u.name, u.profile_image_url, u.last_active_at, u.updated_at, u.created_at,
          u.bio, u.gender, u.date_of_birth, u.timezone, ${STATUS}, ${IS_ACTIVE} as is_active, ${groups('true')} as groups,
          ${SIGN_IN} as sign_in
     from users u where u.id = :id`,
);

export async function readDetail(sql: Sql, id: string): Promise<UserDetail | undefined> {
  const [row] = await sql.rows(DETAIL, { id });
  return row;
}

/** An account as its owner reads it. The status may have expired since. */
export type OwnAccount = UserView &
  Pick<
    UserDetail,
    'bio' | 'gender' | 'date_of_birth' | 'status_emoji' | 'status_message' | 'status_expires_at'
  >;

const OWN_ACCOUNT = statement<OwnAccount, { id: string }>(
  'users.own_account',
  `select id, email, username, role, name, profile_image_url, last_active_at, updated_at, created_at, bio, gender, date_of_birth,
          status_emoji, status_message, status_expires_at from users where id = :id`,
);

export async function readOwnAccount(sql: Sql, id: string): Promise<OwnAccount | undefined> {
  const [row] = await sql.rows(OWN_ACCOUNT, { id });
  return row;
}

const INFO_OF = statement<UserInfo, { id: string; callerIsAdmin: boolean; callerId: string }>(
  'users.info',
  `select u.id, u.name, case when :callerIsAdmin or u.id = :callerId then u.email end as email, u.role, u.bio, ${IS_ACTIVE} as is_active, ${STATUS},
          ${groups('(:callerIsAdmin or u.id = :callerId or gp.id in (select gm.group_id from group_member gm where gm.user_id = :callerId))')} as groups
     from users u where u.id = :id and (:callerIsAdmin or u.id = :callerId or u.role <> 'pending')`,
);

/** An account as the caller may see it. Includes only groups that the caller shares. */
export async function readInfo(
  sql: Sql,
  caller: { id: string; role: string },
  id: string,
): Promise<UserInfo | undefined> {
  const [row] = await sql.rows(INFO_OF, { id, callerIsAdmin: caller.role === 'admin', callerId: caller.id });
  return row;
}

const ADMINISTRATOR = statement<{ name: string; email: string }, { email: string | null }>(
  'users.administrator',
  `select name, email from users where role = 'admin' and (:email::text is null or email = :email) order by ordinal limit 1`,
);

/** The administrator with an address, or the oldest one. Undefined if no administrator has the address. */
export async function readAdministrator(sql: Sql, email: string | null) {
  const [row] = await sql.rows(ADMINISTRATOR, { email });
  return row;
}

const PICTURE = statement<{ name: string; profile_image_url: string }, { id: string }>(
  'users.picture',
  'select name, profile_image_url from users where id = :id',
);

export async function readPicture(sql: Sql, id: string) {
  const [row] = await sql.rows(PICTURE, { id });
  return row;
}

const SEEN = statement<never, { userIds: string[]; at: number }>(
  'users.seen',
  'update users set last_active_at = :at where id = any(:userIds)',
);

/** Stores when users were last active. */
export async function storeLastSeen(sql: Sql, userIds: string[], atSeconds: number): Promise<void> {
  await sql.rows(SEEN, { userIds, at: atSeconds });
}

/** The advisory lock for changes of administrators. Any constant works if all writers use the same one. */
const ADMINISTRATORS_LOCK = 7_011_502;

const LOCK_ADMINISTRATORS = statement<unknown, { lock: number }>(
  'user.lock_administrators',
  'select pg_advisory_xact_lock(:lock)',
);

/** Taken by every change of administrators, and held until the transaction ends. */
export const lockAdministrators = (sql: Sql) => sql.rows(LOCK_ADMINISTRATORS, { lock: ADMINISTRATORS_LOCK });

const END_SESSIONS = statement<never, { userId: string }>(
  'user.end_sessions',
  'delete from session where user_id = :userId',
);

/** Deletes the sessions of an account; part of a change of its password or role. */
export const endSessionsOf = (sql: Sql, userId: string) => sql.rows(END_SESSIONS, { userId });
