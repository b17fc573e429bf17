import type { EntityName } from '@mikro-orm/postgresql';
import type { Noun } from './noun.ts';
import { nouns } from './nouns.ts';

/** Every table; `mikro-orm.config.ts`, the server and the command line read this one list. */
export const entities = nouns.flatMap(({ entities = [] }: Noun) => entities) as EntityName[];
