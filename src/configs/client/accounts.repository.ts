import { type Sql, statement } from '../../database/sql.ts';

const HAS_ACCOUNTS = statement<{ found: boolean }>(
  'users.has_accounts',
  'select exists (select from users) as found',
);

export async function readHasAccounts(sql: Sql): Promise<boolean> {
  const [row] = await sql.rows(HAS_ACCOUNTS);
  return row?.found ?? false;
}
