import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import type { Closers } from './closers.ts';
import { startEmbedded } from './database/embedded.ts';
import { type DatabaseTarget, migrate, openOrm, requireUsable, requireWritable } from './database/orm.ts';
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

/** Connects to the database of the environment, or starts the embedded one, and brings its tables up to date. @throws DatabaseError */
export async function openDatabase(options: DatabaseOptions, closers: Closers): Promise<MikroORM> {
  const orm = await openOrm(entities, await provideDatabase(options, closers));
  closers.add(() => orm.close(true));
  await requireUsable(orm);
  await requireWritable(orm);
  await migrateVisibly(orm);
  return orm;
}

async function provideDatabase(
  { env, log, onFatal }: DatabaseOptions,
  closers: Closers,
): Promise<DatabaseTarget> {
  if (env.DATABASE_URL) return { url: env.DATABASE_URL };
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
