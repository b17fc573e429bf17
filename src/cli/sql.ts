import type { EntityManager } from '@mikro-orm/postgresql';

/** The tables of the service, except the list of migrations. */
export const ownTables = (em: Pick<EntityManager, 'getMetadata'>): string[] =>
  [...em.getMetadata().getAll().values()].map(({ tableName }) => tableName);
