import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { migrating } from './orm.ts';

/** Quotes a name for a statement. */
export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/**
 * Drops foreign keys in the transaction of `em`: all, or those that belong or lead to some tables. Returns the function that adds them
 * again, which checks all rows.
 */
export async function dropForeignKeys(
  em: EntityManager,
  tables: string[] | null,
): Promise<() => Promise<void>> {
  const all = await em.execute<{ owner: string; target: string; name: string; definition: string }[]>(
    `select conrelid::regclass::text as owner, confrelid::regclass::text as target, conname as name,
            pg_get_constraintdef(oid) as definition
       from pg_constraint where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace`,
  );
  const found = all.filter(
    ({ owner, target }) => !tables || tables.includes(owner) || tables.includes(target),
  );
  for (const { owner, name } of found)
    await em.execute(`alter table ${owner} drop constraint ${quote(name)}`);
  return async () => {
    for (const { owner, name, definition } of found)
      await em.execute(`alter table ${owner} add constraint ${quote(name)} ${definition}`);
  };
}

/** A division of tables by the hash of a column, which is in all their keys; into one part they are ordinary tables. */
export interface Division {
  tables: string[];
  by: string;
  into: number;
}

/** Divides tables, all or nothing. @param onTable called when the rows of a table are copied */
export const divideTables = (
  orm: MikroORM,
  { tables, by, into }: Division,
  onTable: () => void,
): Promise<void> =>
  migrating(orm, async (em) => {
    const addForeignKeys = await dropForeignKeys(em, tables);
    for (const table of tables) {
      await divide(em, table, by, into);
      onTable();
    }
    await addForeignKeys();
    await em.execute(`analyze ${tables.map(quote).join(', ')}`);
  });

/** Puts a table with the same rows, keys and indexes in the place of another, divided into parts. */
async function divide(em: EntityManager, table: string, by: string, parts: number): Promise<void> {
  const list = async (select: string): Promise<string[]> =>
    (await em.execute<{ text: string }[]>(select)).map(({ text }) => text);
  const id = `'${table}'::regclass`;
  const columns = await list(
    `select quote_ident(attname) as text from pg_attribute
      where attrelid = ${id} and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
  );
  const keys = await list(
    `select format('add constraint %I %s', conname, pg_get_constraintdef(oid)) as text from pg_constraint
      where conrelid = ${id} and contype in ('p', 'u') order by oid`,
  );
  const indexes = await list(
    `select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ') as text from pg_index i
      where indrelid = ${id} and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
  );
  // A divided table has no options of its own: its parts have them.
  const [options] = await list(
    `select 'with (' || array_to_string(reloptions, ', ') || ')' as text from pg_class
      where oid in (${id}, (select min(inhrelid) from pg_inherits where inhparent = ${id})) and reloptions is not null`,
  );
  const next = `${table}_next`;
  const form = `(like ${quote(table)} including all excluding indexes)`;
  if (parts === 1) await em.execute(`create table ${quote(next)} ${form} ${options ?? ''}`);
  else {
    await em.execute(`create table ${quote(next)} ${form} partition by hash (${quote(by)})`);
    for (let n = 0; n < parts; n += 1)
      await em.execute(
        `create table ${quote(`${table}_part_${n}_of_${parts}`)} partition of ${quote(next)} for values with (modulus ${parts}, remainder ${n}) ${options ?? ''}`,
      );
  }
  const names = columns.join(', ');
  await em.execute(`insert into ${quote(next)} (${names}) select ${names} from ${quote(table)}`);
  await em.execute(`drop table ${quote(table)}`);
  await em.execute(`alter table ${quote(next)} rename to ${quote(table)}`);
  for (const key of keys) await em.execute(`alter table ${quote(table)} ${key}`);
  for (const index of indexes) await em.execute(index);
}
