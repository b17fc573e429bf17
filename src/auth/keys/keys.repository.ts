import type { Role } from '../../core/scope.ts';
import { type Sql, statement } from '../../database/sql.ts';
import { groupPermissions } from '../../groups/groups.permissions.repository.ts';
import type { ApiKeyView } from './keys.schema.ts';

export interface KnownKey {
  key_id: string;
  allowed_endpoints: string[] | null;
  expires_at: number | null;
  id: string;
  email: string;
  name: string;
  role: Role;
  /** Names of permissions. */
  granted: string[];
}

const FIND = statement<KnownKey, { hash: string }>(
  'api_key.find',
  `select k.id as key_id, k.allowed_endpoints, k.expires_at, u.id, u.email, u.name, u.role,
     ${groupPermissions('u.id')} as granted
     from api_key k join users u on u.id = k.user_id where k.hash = :hash`,
);

/** The key with a hash and its owner, expired or not. */
export async function findKey(sql: Sql, hash: string): Promise<KnownKey | undefined> {
  const [row] = await sql.rows(FIND, { hash });
  return row;
}

const VIEW = `k.id, k.name, 'sk-...' || k.tail as masked, k.allowed_endpoints, k.expires_at, k.last_used_at, k.created_at`;

const LIST = statement<ApiKeyView, { userId: string }>(
  'api_key.list',
  `select ${VIEW} from api_key k where k.user_id = :userId order by k.created_at desc, k.id desc`,
);

/** The keys of a user, newest first. */
export const listKeys = (sql: Sql, userId: string): Promise<ApiKeyView[]> => sql.rows(LIST, { userId });

const NAMED = statement<ApiKeyView, { userId: string; name: string }>(
  'api_key.named',
  `select ${VIEW} from api_key k where k.user_id = :userId and k.name = :name`,
);

export async function findNamedKey(sql: Sql, userId: string, name: string): Promise<ApiKeyView | undefined> {
  const [row] = await sql.rows(NAMED, { userId, name });
  return row;
}

const LOCK = statement<never, { userId: string }>(
  'api_key.lock',
  'select 1 from users where id = :userId for update',
);
const COUNT = statement<{ count: number }, { userId: string }>(
  'api_key.count',
  'select count(*)::int as count from api_key where user_id = :userId',
);

/**
 * Counts the keys of an account and locks it: other calls that create a key wait for this transaction, so the
 * limit holds.
 */
export async function lockKeys(sql: Sql, userId: string): Promise<number> {
  await sql.rows(LOCK, { userId });
  // A separate statement: the statement that waited for the lock still sees the older snapshot.
  const [row] = await sql.rows(COUNT, { userId });
  return row?.count ?? 0;
}

export interface NewKey {
  id: string;
  userId: string;
  name: string;
  hash: string;
  tail: string;
  allowedEndpoints: string[] | null;
  expiresAt: number | null;
  createdAt: number;
}

const INSERT = statement<
  ApiKeyView,
  {
    id: string;
    userId: string;
    name: string;
    hash: string;
    tail: string;
    endpoints: string | null;
    expiresAt: number | null;
    createdAt: number;
  }
>(
  'api_key.insert',
  `insert into api_key as k (id, user_id, name, hash, tail, allowed_endpoints, expires_at, created_at)
   values (:id, :userId, :name, :hash, :tail, :endpoints::jsonb, :expiresAt, :createdAt)
   on conflict (user_id, name) do nothing returning ${VIEW}`,
);

/** Stores a key; undefined if the account already has a key of that name. */
export async function insertKey(sql: Sql, key: NewKey): Promise<ApiKeyView | undefined> {
  const { id, userId, name, hash, tail, allowedEndpoints, expiresAt, createdAt } = key;
  const endpoints = allowedEndpoints && JSON.stringify(allowedEndpoints);
  const [row] = await sql.rows(INSERT, { id, userId, name, hash, tail, endpoints, expiresAt, createdAt });
  return row;
}

const DELETE = statement<ApiKeyView, { userId: string; id: string }>(
  'api_key.delete',
  `delete from api_key k where k.user_id = :userId and k.id = :id returning ${VIEW}`,
);

/** Deletes a key of a user; undefined if there is none. */
export async function deleteKey(sql: Sql, userId: string, id: string): Promise<ApiKeyView | undefined> {
  const [row] = await sql.rows(DELETE, { userId, id });
  return row;
}

const DELETE_NAMED = statement<ApiKeyView, { userId: string; name: string }>(
  'api_key.delete_named',
  `delete from api_key k where k.user_id = :userId and k.name = :name returning ${VIEW}`,
);

export async function deleteNamedKey(
  sql: Sql,
  userId: string,
  name: string,
): Promise<ApiKeyView | undefined> {
  const [row] = await sql.rows(DELETE_NAMED, { userId, name });
  return row;
}

const USED = statement<never, { ids: string[]; at: number }>(
  'api_key.used',
  'update api_key set last_used_at = :at where id = any(:ids::uuid[])',
);

/** Stores the last use of keys. */
export async function storeKeysUsed(sql: Sql, ids: string[], atSeconds: number): Promise<void> {
  await sql.rows(USED, { ids, at: atSeconds });
}
