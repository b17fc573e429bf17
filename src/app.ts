import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import project from '../package.json' with { type: 'json' };
import { type Connections, openDatabase } from './app.database.ts';
import { type Board, startBoard } from './board/board.ts';
import { type Closers, openClosers } from './closers.ts';
import { hasAccounts } from './configs/client/accounts.service.ts';
import { readPins } from './configs/configs.pins.ts';
import { openConfigStore } from './configs/configs.store.ts';
import { watchRoom } from './core/limits/room.ts';
import { readRedisAddress } from './core/processes/redis.address.ts';
import type { Parts } from './core/scope.ts';
import { deriveKey } from './core/secrets/keys.ts';
import { EmbeddedDatabaseError } from './database/embedded/embedded.ts';
import { measurePool } from './database/metrics.ts';
import { followNotices, notifyText } from './database/notices.ts';
import { OccupiedError, occupy } from './database/occupancy.ts';
import { DatabaseError } from './database/orm.ts';
import type { PooledDatabase } from './database/sql.ts';
import { mountHealth } from './doors/health.ts';
import { createEntrance } from './doors/http/entrance.ts';
import { listen, requirePort } from './doors/http/listen.ts';
import { createHttp } from './doors/http.ts';
import { mountMetrics } from './doors/metrics/metrics.ts';
import { mountSocketIo } from './doors/socketio/socketio.ts';
import { mountTrpcSockets } from './doors/trpc/trpc.sockets.ts';
import { createEgress, type Egress } from './egress/egress.ts';
import { type Env, StartError } from './env.ts';
import { createRedisBus } from './events/bus.redis.ts';
import { createLocalBus, type Topic } from './events/bus.ts';
import { createWorkersBus } from './events/bus.workers.ts';
import { createHub } from './events/hub/hub.ts';
import { measureBus, measureHub } from './events/metrics.ts';
import { createPresence } from './events/presence.ts';
import { connectRedis, type RedisClient } from './events/redis.ts';
import { uploadsOf } from './files/store/open.ts';
import type { JobKind } from './jobs/kind.ts';
import { measureJobs } from './jobs/metrics.ts';
import { createJobs } from './jobs/worker.ts';
import type { Base } from './noun.ts';
import {
  accountDeletion,
  grantable,
  jobKinds,
  nounMetrics,
  nounReadiness,
  startNouns,
  streamKinds,
} from './nouns.ts';
import { showProgress } from './progress.ts';
import { measurePython } from './python/metrics.ts';
import { type Python, startPython } from './python/pool.ts';
import { appRouter } from './router.ts';
import { claimSecret } from './secret.stored.ts';
import { loadSecret } from './secret.ts';
import { startTelemetry } from './telemetry/telemetry.ts';
import type { Telemetry } from './telemetry/telemetry.types.ts';

/** All processes on one Redis; the groups of workers have other numbers. */
const REDIS_GROUP = 0;

/** Topics that take rights away: these notices also go through PostgreSQL, so they arrive while Redis fails. */
const RIGHTS: readonly Topic[] = [
  ...(['auth.ending', 'auth.revoked', 'auth.changed', 'groups.changed', 'channel.access'] as const),
];

export interface App {
  url: string;
  /** True while no account exists: the first one becomes the administrator. */
  isNew: boolean;
  /** Makes `/ready` answer 503, so that balancers send new calls elsewhere; calls are still served. */
  drain(): void;
  /** Stops everything in order: doors first, the database last. */
  close(): Promise<void>;
}

export interface AppOptions {
  env: Env;
  log: Logger;
  /** Called when the server cannot go on: its database has ended, or belongs to another process now. */
  onFatal(reason: string): void;
  /** Gets the lines that tell of long steps of the start; the log gets them unless given. */
  announce?: ((line: string) => void) | undefined;
  /** Shared by several servers of one process; the caller closes it. The server starts its own unless given. */
  python?: Python | undefined;
  /** A less strict way to other servers, for tests; the caller closes it. */
  egress?: Egress | undefined;
  /** More kinds of jobs, for tests. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
  jobKinds?: readonly JobKind<any>[] | undefined;
}

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

type PooledBase = Base & { sql: PooledDatabase; sessions: Connections['sessions'] };

/** Starts the parts that belong to no noun: the database, the configuration, the bus, Python and the way to other servers. */
async function startBase(
  options: AppOptions,
  closers: Closers,
): Promise<{ base: PooledBase; redis: RedisClient | null }> {
  const { env, log, onFatal } = options;
  const warn = (sentence: string) => (error: unknown) => log.warn({ err: error }, sentence);
  const pins = readPins(env.SETTINGS);
  if (!env.worker) await requirePort(env);
  const secret = await loadSecret(env);
  const { orm, sessions, sql } = await openDatabase(options, closers);

  const redis = await openRedis(env, log, closers);
  const occupancy = await occupy(sessions, {
    group: redis ? REDIS_GROUP : (env.worker?.group ?? null),
    fingerprint: fingerprintOf(secret),
    log,
    onLost: () => onFatal('Another process took over the database.'),
  });
  closers.add(() => occupancy.release());

  await claimSecret(sql, secret, log);
  const hasEventDoors = env.ENABLE_WEBSOCKET_SUPPORT;
  const configs = await openConfigStore(sql, { secret, pins, hasEventDoors, log });
  const prefix = `parley:${configs.installationId}:`;
  const onError = warn('A notice between processes failed.');
  const also = { topics: RIGHTS, send: (text: string) => notifyText(sql, text) };
  const local = env.worker ? createWorkersBus : createLocalBus;
  const bus = redis ? await createRedisBus(redis, { prefix, also, onError }) : local(onError);
  closers.add(() => bus.close());
  closers.add(configs.follow(bus));
  closers.add(await followNotices({ orm: sessions, bus, log, onGap: configs.refresh }));

  const hub = createHub({ kinds: streamKinds(sql), bus, log });
  closers.add(() => hub.close());
  const presence = createPresence(bus);
  closers.add(() => presence.close());
  const python = options.python ?? ownPython(options);
  if (python !== options.python) closers.add(() => python.close());
  const board = ownBoard(options, python);
  closers.add(() => board.close());
  const egress = options.egress ?? createEgress({ allow: env.EGRESS_ALLOW });
  if (egress !== options.egress) closers.add(() => egress.close());
  const shared = redis ? { redis, prefix } : env.worker && 'primary';
  return {
    base: {
      env,
      log,
      warn,
      orm,
      sessions,
      sql,
      bus,
      configs,
      secret,
      shared,
      hub,
      presence,
      python,
      board,
      egress,
    },
    redis,
  };
}

async function openRedis(env: Env, log: Logger, closers: Closers): Promise<RedisClient | null> {
  if (!env.REDIS_URL) return null;
  const redis = await connectRedis(env.REDIS_URL, log);
  closers.add(() => redis.quit().catch(() => redis.disconnect()));
  // Tools run on this machine and reach its network: to Redis they could speak as the server.
  if (!readRedisAddress(env.REDIS_URL)?.password)
    log.warn('Redis has no password, so tools may reach it. Set one, and put it into REDIS_URL.');
  return redis;
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

interface DoorSources {
  parts: Parts;
  redis: RedisClient | null;
  sql: PooledDatabase;
  telemetry: Telemetry | null;
}

/** Mounts the doors on the parts, and listens. */
async function openDoors(
  { env }: AppOptions,
  { parts, redis, sql, telemetry }: DoorSources,
  closers: Closers,
): Promise<App> {
  const http = await createHttp({ parts, env, router: appRouter });
  const health = mountHealth(http, parts, { redis, replica: sql.replica, nouns: nounReadiness });
  closers.add(() => http.close());
  let openSockets: () => Record<string, number> = () => ({});
  const registries = mountMetrics(http, parts, {
    token: env.METRICS_TOKEN,
    worker: env.worker,
    sockets: () => openSockets(),
    declarations: [measureHub, measurePool(sql.load), measureBus, measurePython, measureJobs, ...nounMetrics],
  });
  telemetry?.exportMetrics(registries);
  if (env.ENABLE_WEBSOCKET_SUPPORT) {
    const sockets = mountTrpcSockets({ server: http.server, parts, router: appRouter });
    const socketIo = mountSocketIo({ server: http.server, parts, env });
    openSockets = () => ({ trpc: sockets.size, socketio: socketIo.size });
    closers.add(() => Promise.all([sockets.close(), socketIo.close()]));
  }
  // The kernel spreads connections over the workers that listen.
  const { HOST, PORT } = { ...env, ...(env.worker && { PORT: env.worker.port }) };
  const reuse = { reusePort: env.worker !== null };
  await listen((at) => http.listen({ ...at, ...reuse }), { HOST, PORT });
  const { port } = http.server.address() as AddressInfo;
  const host = env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST;
  const isNew = !(await hasAccounts(parts.sql));
  return { url: `http://${host}:${port}`, isNew, drain: health.drain, close: closers.close };
}

const fingerprintOf = (secret: string): number =>
  new DataView(deriveKey(secret, 'fingerprint').buffer).getUint32(0) >>> 1;

const ownPython = ({ env, log, announce = (line) => log.info(line) }: AppOptions): Python =>
  startPython({
    dataDir: env.DATA_DIR,
    ...(env.PYTHON && { interpreter: env.PYTHON }),
    log: { info: announce, warn: (line) => log.warn(line), progress: showProgress },
  });

/** The package index is asked when Python is ready, or known to be unavailable. */
const ownBoard = ({ env, log, announce = (line) => log.info(line) }: AppOptions, python: Python): Board =>
  startBoard({
    dataDir: env.DATA_DIR,
    mode: env.EMBEDDED_MODEL,
    interpreter: () => python.settled.then(() => python.interpreter()),
    log: { info: announce, warn: (line) => log.warn(line), progress: showProgress },
  });

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
