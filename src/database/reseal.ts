import type { Secret } from '../core/keys.ts';
import { renew, type SealedFor } from '../core/seal.ts';
import { type Sql, statement } from './sql.ts';

/** A column that holds sealed texts. */
interface SealedColumn {
  table: string;
  column: string;
  /** SQL of a text that names the row. */
  key: string;
  /** What a row's text is sealed for, by that name. */
  sealedFor: (key: string) => SealedFor;
}

const BATCH = 500;

/**
 * Seals with the secret in use what older ones of the list have sealed. Whatever is stored anew meanwhile stays.
 *
 * @returns how many texts that were
 */
export async function resealColumn(
  sql: Sql,
  secret: Secret,
  { table, column, key, sealedFor }: SealedColumn,
): Promise<number> {
  const read = statement<{ key: string; sealed: string }>(
    `reseal.${table}.read`,
    `select ${key} as key, ${column} as sealed from ${table} where ${column} is not null and ${key} > $1
      order by 1 limit ${BATCH}`,
  );
  const write = statement(
    `reseal.${table}.write`,
    `update ${table} set ${column} = renewed.sealed
       from unnest($1::text[], $2::text[], $3::text[]) as renewed(key, before, sealed)
      where ${key} = renewed.key and ${column} = renewed.before`,
  );
  let count = 0;
  for (let after = ''; ; ) {
    const rows = await sql.rows(read, [after]);
    const renewed = rows.flatMap((row) => {
      const sealed = renew(secret, row.sealed, sealedFor(row.key));
      return sealed === null ? [] : [{ ...row, before: row.sealed, sealed }];
    });
    if (renewed.length > 0) {
      const columns = [renewed.map((row) => row.key), renewed.map((row) => row.before)];
      await sql.rows(write, [...columns, renewed.map(({ sealed }) => sealed)]);
    }
    count += renewed.length;
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return count;
    after = last.key;
  }
}
