import project from '../package.json' with { type: 'json' };
import { type AppOptions, type PooledBase, startBase } from './app.base.ts';
import { type App, openDoors } from './app.doors.ts';
import { type Closers, openClosers } from './closers.ts';
import { watchRoom } from './core/limits/room.ts';
import type { Parts } from './core/scope.ts';
import { EmbeddedDatabaseError } from './database/embedded/embedded.ts';
import { OccupiedError } from './database/occupancy.ts';
import { DatabaseError } from './database/orm.ts';
import { createEntrance } from './doors/http/entrance.ts';
import { type Env, StartError } from './env.ts';
import { uploadsOf } from './files/store/open.ts';
import { createJobs } from './jobs/worker.ts';
import { accountDeletion, grantable, jobKinds, startNouns } from './nouns.ts';
import { startTelemetry } from './telemetry/telemetry.ts';

/**
 * Starts the parts of the server in order and listens.
 *
 * @throws StartError with one line for the operator; parts that were started by then are stopped again
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { env, log } = options;
  const closers = openClosers(log);
  try {
    const telemetry = await startTelemetry(env, log, project.version);
    if (telemetry) closers.add(() => telemetry.close());
    const { base, redis } = await startBase(options, closers);
    const parts = await startParts(options, base, closers);
    const app = await openDoors(options, { parts, redis, sql: base.sql, telemetry }, closers);
    if (env.ENV === 'test') log.warn('ENV=test: passwords are stored so that they can be guessed. Unset it.');
    return app;
  } catch (error) {
    await closers.close();
    throw forOperator(error, env);
  }
}

/** Starts the nouns, and the jobs when all their parts are there. */
async function startParts(options: AppOptions, base: PooledBase, closers: Closers): Promise<Parts> {
  const { env, log, orm, sessions, sql, bus, configs, secret, hub, presence, python, board, egress } = base;
  const nounParts = await startNouns(base, closers);
  // Another PostgreSQL has its own disk, and reports itself when that is full.
  const { STORAGE_RESERVE_MB: reserve = env.DATABASE_URL ? 0 : 256 } = env;
  const disks = env.FILES_URL ? [env.DATA_DIR] : [env.DATA_DIR, uploadsOf(env)];
  const room = await watchRoom(disks, reserve * 2 ** 20, log);
  closers.add(() => room.close());
  const jobs = createJobs({ orm: sessions, sql, log, kinds: [...jobKinds, ...(options.jobKinds ?? [])] });
  const own = {
    orm,
    sql,
    bus,
    log,
    python,
    board,
    egress,
    secret,
    configs,
    hub,
    presence,
    room,
    jobs,
    accountDeletion,
    grantable,
  };
  const parts: Parts = { ...own, ...nounParts, entrance: createEntrance(env) };
  closers.add(() => jobs.close());
  await jobs.begin(parts);
  return parts;
}

/** Errors whose one line is written for an operator; others are defects and keep their stack. */
function forOperator(error: unknown, { DATABASE_URL, DATA_DIR }: Env): unknown {
  if (error instanceof DatabaseError) {
    // The address may hold a password, so only its host is shown.
    const [where, cure] = DATABASE_URL
      ? [`the database of DATABASE_URL at ${new URL(DATABASE_URL).host}`, 'correct DATABASE_URL']
      : [`the database in ${DATA_DIR}`, 'restore a backup'];
    return new StartError(`Cannot use ${where}: ${error.message}. Mend that, or ${cure}.`, { cause: error });
  }
  const isKnown = error instanceof EmbeddedDatabaseError || error instanceof OccupiedError;
  return isKnown ? new StartError(error.message, { cause: error }) : error;
}
