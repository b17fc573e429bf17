import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';

/** The schema of the library's tables. */
export const SCHEMA = 'graphile_worker';

const noop = () => {};

/**
 * Brings the library's tables up to date, by its own migrations. Each is a transaction of its own; what was cut short goes on from
 * there. The caller keeps others from doing so at the same time.
 */
export async function installQueue(orm: MikroORM): Promise<void> {
  // A tenth of a second of loading, which commands of the shell have no use for.
  const { Logger, runMigrations } = await import('graphile-worker');
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const client: PoolClient = await pool.connect();
  try {
    // Its listeners are asked for because the library warns of a pool without any.
    const one = {
      connect: async () => ({ query: client.query.bind(client), release: noop }),
      listeners: () => [noop],
    };
    await runMigrations({ pgPool: one as unknown as Pool, schema: SCHEMA, logger: new Logger(() => noop) });
  } finally {
    client.release();
  }
}
