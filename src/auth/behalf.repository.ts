import type { Role } from '../core/scope.ts';
import { type Sql, statement } from '../database/sql.ts';
import { groupPermissions } from '../groups/groups.permissions.repository.ts';

export interface AccountNow {
  id: string;
  email: string;
  name: string;
  role: Role;
  /** Names of permissions. */
  granted: string[];
  /** Null without a key, and for a key that was deleted. */
  key_id: string | null;
  allowed_endpoints: string[] | null;
  expires_at: number | null;
}

const READ = statement<AccountNow, { userId: string; keyId: string | null }>(
  'account.now',
  `select u.id, u.email, u.name, u.role, ${groupPermissions('u.id')} as granted, k.id as key_id, k.allowed_endpoints, k.expires_at
     from users u left join api_key k on k.id = :keyId::uuid and k.user_id = u.id where u.id = :userId`,
);

/** An account as it is now, and the given one of its API keys; undefined if the account was deleted. */
export async function readAccountNow(
  sql: Sql,
  userId: string,
  keyId: string | null,
): Promise<AccountNow | undefined> {
  const [row] = await sql.rows(READ, { userId, keyId });
  return row;
}
