import { ormOptions } from './src/database/orm.ts';
import { entities } from './src/entities.ts';
import { readEnv } from './src/env.ts';

/** For `npx mikro-orm …`. `migration:create` compares entities with the snapshot and needs no database. */
export default ormOptions(entities, {
  url: readEnv().DATABASE_URL ?? 'postgresql://parley@localhost:5432/parley',
});
