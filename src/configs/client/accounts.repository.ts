import { type Sql, statement } from '../../database/sql.ts';

const HAS_ACCOUNTS = statement<{ found: boolean }>(
  'users.has_accounts',
  'select exists (select from users) as found',
);

/** Databases in which an account was seen. One account always stays, so these are not asked again. */
const populated = new WeakSet<Sql>();

/** True once the first account, the administrator's, was made. */
export async function hasAccounts(sql: Sql): Promise<boolean> {
  if (populated.has(sql)) return true;
  const [row] = await sql.rows(HAS_ACCOUNTS);
  if (row?.found) populated.add(sql);
  return row?.found ?? false;
}
