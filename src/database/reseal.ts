import type { Secret } from '../core/secrets/keys.ts';
import { type Renewal, renew, type SealedFor } from '../core/secrets/seal.ts';
import { type Sql, statement } from './sql.ts';

/** A column that holds sealed texts. */
interface SealedColumn {
  table: string;
  column: string;
  /** SQL for the name of a row. */
  key: string;
  /** The purpose and place of a row's text, by that name. */
  sealedFor: (key: string) => SealedFor;
}

/** The number of sealed texts by state (`Renewal`). */
export type Tally = Record<Renewal['state'], number>;

export const emptyTally = (): Tally => ({ current: 0, renewed: 0, lost: 0 });

const BATCH = 500;

/**
 * Seals texts with the current secret that an older one of the list has sealed. Texts that change meanwhile stay as they are, and so
 * do texts that no secret of the list opens.
 */
export async function resealColumn(
  sql: Sql,
  secret: Secret,
  { table, column, key, sealedFor }: SealedColumn,
): Promise<Tally> {
  const read = statement<{ key: string; sealed: string }, { after: string }>(
    `reseal.${table}.read`,
    `select ${key} as key, ${column} as sealed from ${table} where ${column} is not null and ${key} > :after
      order by 1 limit ${BATCH}`,
  );
  const write = statement<never, { keys: string[]; before: string[]; sealed: string[] }>(
    `reseal.${table}.write`,
    `update ${table} set ${column} = renewed.sealed
       from unnest(:keys::text[], :before::text[], :sealed::text[]) as renewed(key, before, sealed)
      where ${key} = renewed.key and ${column} = renewed.before`,
  );
  const tally = emptyTally();
  for (let after = ''; ; ) {
    const rows = await sql.rows(read, { after });
    const renewed = rows.flatMap((row) => {
      const renewal = renew(secret, row.sealed, sealedFor(row.key));
      tally[renewal.state] += 1;
      return renewal.state === 'renewed' ? [{ ...row, before: row.sealed, sealed: renewal.sealed }] : [];
    });
    if (renewed.length > 0) {
      await sql.rows(write, {
        keys: renewed.map((row) => row.key),
        before: renewed.map((row) => row.before),
        sealed: renewed.map((row) => row.sealed),
      });
    }
    const last = rows.at(-1);
    if (!last || rows.length < BATCH) return tally;
    after = last.key;
  }
}
