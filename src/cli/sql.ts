import type { EntityManager } from '@mikro-orm/postgresql';

/** A name as it stands in a statement. */
export const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** The tables of the service, but for the list of migrations. */
export const ownTables = (em: Pick<EntityManager, 'getMetadata'>): string[] =>
  [...em.getMetadata().getAll().values()].map(({ tableName }) => tableName);
