import type { Sql } from '../../database/sql.ts';
import { readHasAccounts } from './accounts.repository.ts';

/** Databases in which an account was found. One account always stays, so these are not read again. */
const populated = new WeakSet<Sql>();

/** Whether the first account, the administrator's, exists. */
export async function hasAccounts(sql: Sql): Promise<boolean> {
  if (populated.has(sql)) return true;
  const found = await readHasAccounts(sql);
  if (found) populated.add(sql);
  return found;
}
