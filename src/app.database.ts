import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { Closers } from './closers.ts';
import { findRunning, startEmbedded } from './database/embedded/embedded.ts';
import {
  DatabaseError,
  type DatabaseTarget,
  migrate,
  openOrm,
  requireUsable,
  requireWritable,
} from './database/orm.ts';
import { shareConnections } from './database/pool.ts';
import { keepsStatements, poolOf, requireSessions, requireTimeLimits } from './database/pooler.ts';
import { Replica, withReplica } from './database/replica.ts';
import { openSql, type PooledDatabase } from './database/sql.ts';
import { entities } from './entities.ts';
import type { Env } from './env.ts';
import { installQueue } from './jobs/install.ts';
import { showProgress } from './progress.ts';

export interface DatabaseOptions {
  env: Env;
  log: Logger;
  /** Called when the embedded PostgreSQL has ended. */
  onFatal(reason: string): void;
}

/** The connections of the server to its database. */
export interface Connections {
  orm: MikroORM;
  /** Those that keep a session: for locks that last, notices and migrations. */
  sessions: MikroORM;
  sql: PooledDatabase;
}

/** Connects to the database of the environment, or starts the embedded one, and brings its tables up to date. @throws DatabaseError */
export async function openDatabase(options: DatabaseOptions, closers: Closers): Promise<Connections> {
  const { DATABASE_URL, DATABASE_SESSION_URL } = options.env;
  const isPooled = DATABASE_SESSION_URL !== undefined;
  const orm = await openOrm(entities, await provideDatabase(options, closers), { isPooled });
  closers.add(() => orm.close(true));
  await requireUsable(orm);
  await requireWritable(orm);
  if (isPooled) await requireTimeLimits(orm);
  const sessions = isPooled
    ? await openSessions(orm, DATABASE_SESSION_URL, closers).catch(inSessionUrl)
    : orm;
  if (DATABASE_URL && !isPooled) await requireSessions(orm, orm);
  await migrateVisibly(sessions);
  const primary = await openSql(orm, !isPooled || (await keepsStatements(orm)));
  return { orm, sessions, sql: await addReplica(options, primary, closers) };
}

async function addReplica(
  { env, log }: DatabaseOptions,
  primary: PooledDatabase,
  closers: Closers,
): Promise<PooledDatabase> {
  if (!env.DATABASE_READ_URL) return primary;
  const orm = await openOrm([], { url: env.DATABASE_READ_URL });
  closers.add(() => orm.close(true));
  const pool = await poolOf(orm);
  shareConnections(pool);
  const replica = new Replica(pool, primary, log);
  closers.add(() => replica.close());
  return withReplica(primary, replica);
}

async function openSessions(orm: MikroORM, url: string, closers: Closers): Promise<MikroORM> {
  const sessions = await openOrm([], { url });
  closers.add(() => sessions.close(true));
  await requireUsable(sessions);
  await requireSessions(orm, sessions);
  return sessions;
}

function inSessionUrl(error: unknown): never {
  if (!(error instanceof DatabaseError)) throw error;
  throw new DatabaseError(`DATABASE_SESSION_URL is wrong: ${error.message}`, { cause: error });
}

async function provideDatabase(
  { env, log, onFatal }: DatabaseOptions,
  closers: Closers,
): Promise<DatabaseTarget> {
  if (env.DATABASE_URL) return { url: env.DATABASE_URL };
  const running = env.worker && (await findRunning(env.DATA_DIR));
  if (running) return running;
  const embedded = await startEmbedded({ dataDir: env.DATA_DIR, log: (line) => log.info(line) });
  closers.add(() => embedded.stop());
  void embedded.exited.then(() => {
    if (!closers.isClosing) onFatal('The embedded PostgreSQL has ended.');
  });
  return embedded.address;
}

async function migrateVisibly(orm: MikroORM): Promise<void> {
  const end = showProgress((seconds) => `The tables are being brought up to date: ${seconds} s so far.`);
  try {
    await migrate(orm, installQueue);
  } finally {
    end();
  }
}
