import { fileURLToPath } from 'node:url';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, MikroORM, type Options } from '@mikro-orm/postgresql';
import type { DatabaseAddress } from './embedded.ts';

/** Where the database is: a URL, or the embedded one's socket folder and account. */
export type DatabaseTarget = { url: string } | DatabaseAddress;

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** Any constant will do, as long as every server asks for the same. */
const MIGRATION_LOCK = 7_011_501;

/** The options that the server and the command-line tool of MikroORM share. */
export function ormOptions(entities: NonNullable<Options['entities']>, target: DatabaseTarget): Options {
  return defineConfig({
    entities,
    ...('url' in target ? { clientUrl: target.url } : target),
    extensions: [Migrator],
    pool: { min: 0, max: 20 },
    driverOptions: {
      application_name: 'parley',
      // `pg` reads the URL itself: it knows `sslmode`, and `host=` for Unix sockets.
      ...('url' in target && { connectionString: target.url }),
      // Every transaction is short. The bound also lets readers of the event log know what can still appear.
      statement_timeout: 20_000,
      idle_in_transaction_session_timeout: 20_000,
    },
    migrations: {
      path: MIGRATIONS,
      pathTs: MIGRATIONS,
      snapshotName: '.snapshot',
      snapshotOnMigrate: false,
      emit: 'ts',
      silent: true,
    },
  }) as Options;
}

/** Connects; the tables may not be there yet. */
export async function openOrm(
  entities: NonNullable<Options['entities']>,
  target: DatabaseTarget,
): Promise<MikroORM> {
  return MikroORM.init(ormOptions(entities, target));
}

/**
 * Brings the tables up to date. Servers that start at the same time queue on an advisory lock, which
 * PostgreSQL drops with the connection, so a crash in the middle blocks nobody.
 */
export async function migrate(orm: MikroORM): Promise<void> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const client = await pool.connect();
  try {
    await client.query('set statement_timeout = 0');
    await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await orm.migrator.up();
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    await client.query('reset statement_timeout');
    client.release();
  }
}
