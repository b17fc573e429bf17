import type { EntityManager } from '@mikro-orm/postgresql';

/** Quotes a name for a statement. */
export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The tables of the service, except the list of migrations. */
export const ownTables = (em: Pick<EntityManager, 'getMetadata'>): string[] =>
  [...em.getMetadata().getAll().values()].map(({ tableName }) => tableName);

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
