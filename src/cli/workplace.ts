import type { Logger } from 'pino';
import { readPins } from '../configs/configs.pins.ts';
import type { ConfigScope } from '../configs/configs.service.ts';
import { openConfigStore } from '../configs/configs.store.ts';
import { EmbeddedDatabaseError, findRunning, startEmbedded } from '../database/embedded/embedded.ts';
import { createNotifyingBus } from '../database/notices.ts';
import { occupy } from '../database/occupancy.ts';
import { DatabaseError, type DatabaseTarget, migrate, openOrm, requireUsable } from '../database/orm.ts';
import { openSql } from '../database/sql.ts';
import { createEgress } from '../egress/egress.ts';
import { entities } from '../entities.ts';
import { type Env, StartError } from '../env.ts';
import { installQueue } from '../jobs/install.ts';
import { requireSecret } from '../secret.stored.ts';
import { loadSecret } from '../secret.ts';
import { type PasswordCost, passwordCostOf } from '../users/passwords/passwords.ts';

type Orm = Awaited<ReturnType<typeof openOrm>>;

/** A database that a command works on, whether a server runs on it or not. */
export interface Connection {
  orm: Orm;
  close(): Promise<void>;
}

/**
 * Connects to the database of the environment. The embedded one is started when no server has it running.
 *
 * @param alone starts the embedded one in any case, which fails while a server has it
 * @throws StartError when the database cannot be used
 */
export async function connect(env: Env, log: Logger, { alone = false } = {}): Promise<Connection> {
  const url = env.DATABASE_SESSION_URL ?? env.DATABASE_URL;
  if (url) return open({ url });
  const running = alone ? null : await findRunning(env.DATA_DIR);
  // A killed server leaves its files, as if it still ran, but no connection is accepted.
  const attached = running && (await open(running).catch(() => null));
  if (attached) return attached;
  try {
    const embedded = await startEmbedded({ dataDir: env.DATA_DIR, log: (line) => log.info(line) });
    return await open(embedded.address, () => embedded.stop());
  } catch (error) {
    throw error instanceof EmbeddedDatabaseError ? new StartError(error.message, { cause: error }) : error;
  }
}

async function open(target: DatabaseTarget, stop: () => Promise<void> = async () => {}): Promise<Connection> {
  const orm = await openOrm(entities, target);
  const close = async () => {
    await orm.close(true);
    await stop();
  };
  try {
    await requireUsable(orm);
    return { orm, close };
  } catch (error) {
    await close();
    throw error instanceof DatabaseError
      ? new StartError(`Cannot use the database: ${error.message}.`, { cause: error })
      : error;
  }
}

/**
 * Keeps servers away until it is released.
 *
 * @throws StartError while one runs
 */
export const occupyAlone = ({ orm }: Pick<Connection, 'orm'>, log: Logger): ReturnType<typeof occupy> =>
  occupy(orm, { group: null, fingerprint: 0, log, onLost: () => {} }).catch((cause: Error) => {
    throw new StartError(cause.message, { cause });
  });

/**
 * Makes the tables of an empty database. It does not change tables of an older version: servers may run on them.
 *
 * @throws StartError when they are of another version
 */
export async function requireTables({ orm }: Connection): Promise<void> {
  if ((await orm.migrator.getExecuted()).length === 0) return migrate(orm, installQueue);
  const pending = await orm.migrator.getPending();
  if (pending.length > 0) {
    throw new StartError(
      'The tables are of an older version. Start the server once, which brings them up to date.',
    );
  }
}

/** The scope of services without a signed-in caller: a person with access to the database may do everything. */
export type Workplace = ConfigScope & {
  orm: Orm;
  bus: ReturnType<typeof createNotifyingBus>;
  passwordCost: PasswordCost;
  em: ReturnType<Orm['em']['fork']>;
  actor: null;
};

/** Runs work on the database of the environment, and tells the servers that run on it what changed. */
export async function work<T>(env: Env, log: Logger, task: (at: Workplace) => Promise<T>): Promise<T> {
  const pins = readPins(env.SETTINGS);
  const connection = await connect(env, log);
  try {
    await requireTables(connection);
    const { orm } = connection;
    const sql = await openSql(orm);
    const secret = await loadSecret(env);
    await requireSecret(sql, secret);
    const configs = await openConfigStore(sql, {
      secret,
      pins,
      hasEventDoors: env.ENABLE_WEBSOCKET_SUPPORT,
      log,
    });
    const bus = createNotifyingBus(sql, (error) =>
      log.error({ err: error }, 'The servers could not be told.'),
    );
    const unfollow = configs.follow(bus);
    const egress = createEgress({ allow: env.EGRESS_ALLOW });
    try {
      const passwordCost = passwordCostOf(env);
      return await task({
        orm,
        sql,
        configs,
        bus,
        egress,
        passwordCost,
        em: orm.em.fork(),
        actor: null,
      });
    } finally {
      await egress.close();
      await bus.sent();
      unfollow();
    }
  } finally {
    await connection.close();
  }
}
