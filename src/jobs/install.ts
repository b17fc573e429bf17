import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { QUEUE_SCHEMA } from '../database/orm.ts';

const noop = () => {};

/**
 * Brings the library's tables up to date by its own migrations. Each runs in a transaction of its own, so an interrupted run continues
 * with the next. The caller holds the lock of the migrations (`database/orm.ts`).
 */
export async function installQueue(orm: MikroORM): Promise<void> {
  // Loading takes a tenth of a second, and most commands of the shell do not need it.
  const { Logger, runMigrations } = await import('graphile-worker');
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const client: PoolClient = await pool.connect();
  try {
    // The library warns of a pool without listeners.
    const one = {
      connect: async () => ({ query: client.query.bind(client), release: noop }),
      listeners: () => [noop],
    };
    await runMigrations({
      pgPool: one as unknown as Pool,
      schema: QUEUE_SCHEMA,
      logger: new Logger(() => noop),
    });
  } finally {
    client.release();
  }
}
