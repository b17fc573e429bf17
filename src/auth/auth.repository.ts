import { type Sql, statement } from '../database/sql.ts';
import type { UserView } from '../users/users.schema.ts';

const BY_EMAIL = statement<UserView & { password_hash: string | null }, { email: string }>(
  'account.by_email',
  `select id, email, username, role, name, profile_image_url, last_active_at, updated_at, created_at, password_hash
     from users where email = :email`,
);

/** The account with a folded email address, and its password hash. Null if no account has the address. */
export async function findAccount(
  sql: Sql,
  email: string,
): Promise<{ user: UserView; hash: string | null } | null> {
  const [row] = await sql.rows(BY_EMAIL, { email });
  if (!row) return null;
  const { password_hash: hash, ...user } = row;
  return { user, hash };
}
