import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Migrator } from '@mikro-orm/migrations';
import { defineConfig, type EntityManager, MikroORM, type Options } from '@mikro-orm/postgresql';
import type { DatabaseAddress } from './embedded/embedded.ts';
import { reclaimBroken } from './pool.ts';

/** The address of the database: a URL, or the socket folder and account of the embedded one. */
export type DatabaseTarget = { url: string } | DatabaseAddress;

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));

/** Any constant that is the same in every server. */
const MIGRATION_LOCK = 7_011_501;

/** How long a change of a table waits for its lock: all calls that use the table wait behind it. */
const TABLE_LOCK_MS = 2_000;
const MIGRATION_PAUSE_MS = 1_000;
/** How long locks are tried for. Calls last at most 20 s. */
const MIGRATION_PATIENCE_MS = 300_000;
/** The SQLSTATE `lock_not_available`. */
const LOCK_TIMEOUT = '55P03';

/** As `server_version_num` has it. */
const OLDEST_VERSION = 150_000;

/** The schema of the tables that the library of `src/jobs` brings; no entity describes them. */
export const QUEUE_SCHEMA = 'graphile_worker';

/** Every transaction is short. Readers of the event log rely on the bound: no older event can appear later. */
const TIME_LIMITS = { statement_timeout: 20_000, idle_in_transaction_session_timeout: 20_000 };

/** How long to wait for a new connection or a free one of the pool. */
const CONNECT_MS = 10_000;

/** Whether the address is that of a pool in transaction mode. */
export interface TargetOptions {
  isPooled?: boolean;
}

/** The options that the server and the command-line tool of MikroORM share. */
export function ormOptions(
  entities: NonNullable<Options['entities']>,
  target: DatabaseTarget,
  { isPooled = false }: TargetOptions = {},
): Options {
  return defineConfig({
    entities,
    ...('url' in target ? { clientUrl: target.url } : target),
    extensions: [Migrator],
    // The connections of the server that need a session serve no entity.
    discovery: { warnWhenNoEntities: false },
    pool: { min: 0, max: 20 },
    driverOptions: {
      application_name: 'parley',
      // `pg` reads the URL itself: it knows `sslmode`, and `host=` for Unix sockets.
      ...('url' in target && { connectionString: target.url }),
      // A pool refuses them, or ignores them; there the role has them (`pooler.ts`).
      ...(!isPooled && TIME_LIMITS),
      connectionTimeoutMillis: CONNECT_MS,
      onPoolCreated: reclaimBroken,
    },
    schemaGenerator: { ignoreSchema: [QUEUE_SCHEMA] },
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
  options: TargetOptions = {},
): Promise<MikroORM> {
  return MikroORM.init(ormOptions(entities, target, options));
}

/** The database cannot be used; the message says why. */
export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
}

/** @throws DatabaseError when the database does not answer or is too old */
export async function requireUsable(orm: MikroORM): Promise<void> {
  const [row] = await orm.em
    .execute<{ version: string; number: number }[]>(
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number`,
    )
    .catch((cause) => {
      throw new DatabaseError(`it does not answer as a PostgreSQL: ${reason(cause)}`, { cause });
    });
  if (row && row.number < OLDEST_VERSION) {
    throw new DatabaseError(`it is PostgreSQL ${row.version}, and 15 or newer is needed`);
  }
}

/** A backup can be made of a standby, but a server must write. @throws DatabaseError */
export async function requireWritable(orm: MikroORM): Promise<void> {
  const [row] = await orm.em.execute<{ readOnly: string }[]>(
    `select current_setting('transaction_read_only') as "readOnly"`,
  );
  if (row?.readOnly === 'on') {
    throw new DatabaseError('it may only be read, as a standby is: name the one that takes writes');
  }
}

/**
 * Brings the tables up to date: our own all or nothing, then the tables of the queue of jobs. Servers that start at the same time wait
 * for one another on an advisory lock. PostgreSQL drops it with the transaction, so it does not outlive a crash. Servers that run wait for
 * a change of a table at most as long as it waits for its lock; then it is tried again from the beginning.
 *
 * @param installQueue of `src/jobs`, which this folder does not import
 * @throws DatabaseError when the database holds other tables of these names, or the account may not make any
 */
export async function migrate(orm: MikroORM, installQueue: (orm: MikroORM) => Promise<void>): Promise<void> {
  for (const end = performance.now() + MIGRATION_PATIENCE_MS; ; await delay(MIGRATION_PAUSE_MS)) {
    try {
      return await migrating(orm, async (em, up) => {
        await em.execute('select pg_advisory_xact_lock(?)', [MIGRATION_LOCK]);
        await em.execute(`set local lock_timeout = ${TABLE_LOCK_MS}`);
        await up();
        await installQueue(orm);
      });
    } catch (cause) {
      if (innermost(cause).code === LOCK_TIMEOUT && performance.now() < end) continue;
      throw new DatabaseError(`its tables cannot be brought up to date: ${reason(cause)}`, { cause });
    }
  }
}

/**
 * Runs work that changes tables in a transaction of the ORM, because its migrations accept no other. It has no time limit, because it
 * waits for other servers and changes large tables.
 *
 * @param work gets a function that runs the pending migrations, up to a named one or all
 */
export function migrating<T>(
  orm: MikroORM,
  work: (em: EntityManager, up: (to?: string | 0) => Promise<unknown>) => Promise<T>,
): Promise<T> {
  return orm.em.fork().transactional(async (em) => {
    await em.execute('set local statement_timeout = 0');
    await em.execute('set local idle_in_transaction_session_timeout = 0');
    const transaction = em.getTransactionContext();
    return work(em, (to) => orm.migrator.up({ transaction, ...(to !== undefined && { to }) }));
  });
}

/** The message of PostgreSQL or the system, in one line. */
function reason(error: unknown): string {
  const { message, code } = innermost(error);
  return (message || code || String(error)).replaceAll(/\s+/g, ' ');
}

function innermost(error: unknown): Error & { code?: string } {
  let at = error as Error & { code?: string };
  while (at.cause instanceof Error) at = at.cause;
  return at;
}
