import type { Logger } from 'pino';
import { type Connections, openDatabase } from './app.database.ts';
import { type Board, startBoard } from './board/board.ts';
import type { Closers } from './closers.ts';
import { readPins } from './configs/configs.pins.ts';
import { openConfigStore } from './configs/configs.store.ts';
import { readRedisAddress } from './core/processes/redis.address.ts';
import type { Worker } from './core/processes/workers.ts';
import { deriveKey } from './core/secrets/keys.ts';
import { followNotices, notifyText } from './database/notices.ts';
import { occupy } from './database/occupancy.ts';
import type { PooledDatabase } from './database/sql.ts';
import { requirePort } from './doors/http/listen.ts';
import { createEgress, type Egress } from './egress/egress.ts';
import type { Env } from './env.ts';
import { createRedisBus } from './events/bus.redis.ts';
import { createLocalBus, type Topic } from './events/bus.ts';
import { createWorkersBus } from './events/bus.workers.ts';
import { createHub } from './events/hub/hub.ts';
import { createPresence } from './events/presence.ts';
import { connectRedis, type RedisClient } from './events/redis.ts';
import type { JobKind } from './jobs/kind.ts';
import type { Base } from './noun.ts';
import { streamKinds } from './nouns.ts';
import { showProgress } from './progress.ts';
import { type Python, startPython } from './python/pool.ts';
import { claimSecret } from './secret.stored.ts';
import { loadSecret } from './secret.ts';

/** All processes on one Redis; the groups of workers have other numbers. */
const REDIS_GROUP = 0;

/** Topics that take rights away: these notices also go through PostgreSQL, so they arrive while Redis fails. */
const RIGHTS: readonly Topic[] = [
  ...(['auth.ending', 'auth.revoked', 'auth.changed', 'groups.changed', 'channel.access'] as const),
];

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

export type PooledBase = Base & { sql: PooledDatabase; sessions: Connections['sessions'] };

/** Starts the parts that belong to no noun: the database, the configuration, the bus, Python and the way to other servers. */
export async function startBase(
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
  const presence = createPresence(bus, { place: env.worker ? placeOf(env.worker) : undefined });
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

const placeOf = ({ group, number }: Worker): string => `${group}/${number}`;

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
