import { type Sql, statement } from '../database/sql.ts';
import type { UserView } from './users.schema.ts';

export interface UserQuery {
  query?: string | undefined;
  page: number;
}

export interface UserPage {
  users: UserView[];
  total: number;
}

const PAGE_SIZE = 30;

const LIST = statement<{ users: UserView[]; total: number }>(
  'users.list',
  `with matching as (
     select id, email, username, role, name, profile_image_url, last_active_at, updated_at, created_at, ordinal
       from users
      where $1::text is null or position($1 in lower(name)) > 0 or position($1 in email) > 0
   ), page as (
     select * from matching order by ordinal desc limit ${PAGE_SIZE} offset $2
   )
   select (select count(*)::int from matching) as total,
          coalesce((select json_agg(page order by ordinal desc) from page), '[]'::json) as users`,
);

/** Accounts whose name or address contains the text, newest first, 30 a page, in one statement. */
export async function listUsers(sql: Sql, { query, page }: UserQuery): Promise<UserPage> {
  const [result] = await sql.rows(LIST, [query?.toLowerCase() || null, (page - 1) * PAGE_SIZE]);
  return result ?? { users: [], total: 0 };
}

const SEEN = statement('users.seen', 'update users set last_active_at = $2 where id = any($1)');

/** Notes when users were last seen. */
export async function storeLastSeen(sql: Sql, userIds: string[], atSeconds: number): Promise<void> {
  await sql.rows(SEEN, [userIds, atSeconds]);
}
