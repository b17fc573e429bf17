import type { AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { createAuthenticator } from './auth/authenticator.ts';
import { createSigninLimit } from './auth/limits.ts';
import { createHub } from './channels/events.hub.ts';
import { openConfigStore } from './configs/configs.store.ts';
import type { Parts } from './core/scope.ts';
import { EmbeddedDatabaseError, startEmbedded } from './database/embedded.ts';
import { OccupiedError, occupy } from './database/occupancy.ts';
import { type DatabaseTarget, migrate, openOrm } from './database/orm.ts';
import { openSql } from './database/sql.ts';
import { mountHealth } from './doors/health.ts';
import { createHttp } from './doors/http.ts';
import { mountSocketIo } from './doors/socketio.ts';
import { mountTrpcSockets } from './doors/trpc.ts';
import { entities } from './entities.ts';
import { type Env, StartError } from './env.ts';
import { createRedisBus } from './events/bus.redis.ts';
import { createLocalBus } from './events/bus.ts';
import { startPython } from './python/pool.ts';
import { appRouter } from './router.ts';
import { loadSecret } from './secret.ts';
import { trackActivity } from './users/activity.ts';

export interface App {
  url: string;
  /** Stops everything in order: doors first, the database last. */
  close(): Promise<void>;
}

export interface AppOptions {
  env: Env;
  log: Logger;
  /** Called when the server cannot go on: its database has ended, or belongs to another process now. */
  onFatal(reason: string): void;
}

/**
 * Builds the server from its parts and listens.
 *
 * @throws StartError with one line for the operator; whatever was started by then is stopped again
 */
export async function startApp({ env, log, onFatal }: AppOptions): Promise<App> {
  const closers: (() => unknown)[] = [];
  let closing: Promise<void> | undefined;
  async function closeAll(): Promise<void> {
    for (const close of closers.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        log.error({ err: error }, 'A part did not stop cleanly.');
      }
    }
  }
  const close = () => {
    closing ??= closeAll();
    return closing;
  };

  try {
    const secret = await loadSecret(env);
    const target = await provideDatabase({ env, log, onFatal }, closers, () => closing !== undefined);
    const orm = await openOrm(entities, target);
    closers.push(() => orm.close(true));
    await migrate(orm).catch((cause) => {
      throw unreachable(env, cause);
    });
    const sql = await openSql(orm);

    const redis = env.REDIS_URL ? await connectRedis(env.REDIS_URL, log) : null;
    if (redis) closers.push(() => redis.disconnect());
    const occupancy = await occupy(orm, {
      shared: redis !== null,
      log,
      onLost: () => onFatal('Another process took over the database.'),
    });
    closers.push(() => occupancy.release());

    const configs = await openConfigStore(orm, sql);
    const prefix = `parley:${configs.installationId}:`;
    const onError = (error: unknown) => log.warn({ err: error }, 'A notice between processes failed.');
    const bus = redis ? await createRedisBus(redis, prefix, onError) : createLocalBus(onError);
    closers.push(() => bus.close());
    configs.follow(bus);

    const activity = trackActivity(sql, onError);
    closers.push(() => activity.close());
    const { tokens, authenticate } = createAuthenticator({ sql, bus, secret, onSeen: activity.seen });
    const hub = createHub({ sql, bus, log });
    closers.push(() => hub.close());
    const python = startPython({
      dataDir: env.DATA_DIR,
      ...(env.PYTHON && { interpreter: env.PYTHON }),
      log: { info: (line) => log.info(line), warn: (line) => log.warn(line) },
    });
    closers.push(() => python.close());

    const parts: Parts = {
      orm,
      sql,
      bus,
      log,
      python,
      secret,
      configs,
      tokens,
      hub,
      authenticate,
      signinLimit: createSigninLimit(redis && { redis, prefix }),
    };
    const http = await createHttp({ parts, env, router: appRouter });
    mountHealth(http, parts, redis);
    closers.push(() => http.close());
    if (env.ENABLE_WEBSOCKET_SUPPORT) {
      const sockets = mountTrpcSockets({ server: http.server, parts, router: appRouter });
      const socketIo = mountSocketIo({ server: http.server, parts, env });
      closers.push(
        () => sockets.close(),
        () => socketIo.close(),
      );
    }
    await listen(http, env);
    const { port } = http.server.address() as AddressInfo;
    const host = env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST;
    return { url: `http://${host}:${port}`, close };
  } catch (error) {
    await close();
    throw forOperator(error);
  }
}

async function provideDatabase(
  { env, log, onFatal }: AppOptions,
  closers: (() => unknown)[],
  isClosing: () => boolean,
): Promise<DatabaseTarget> {
  if (env.DATABASE_URL) return { url: env.DATABASE_URL };
  const embedded = await startEmbedded({ dataDir: env.DATA_DIR, log: (line) => log.info(line) });
  closers.push(() => embedded.stop());
  void embedded.exited.then(() => {
    if (!isClosing()) onFatal('The embedded PostgreSQL has ended.');
  });
  return embedded.address;
}

async function connectRedis(url: string, log: Logger): Promise<Redis> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1 });
  redis.on('error', (error) => log.warn({ err: error }, 'Redis does not answer.'));
  try {
    await redis.connect();
    return redis;
  } catch (cause) {
    redis.disconnect();
    throw new StartError('REDIS_URL does not answer. Start Redis, or correct the address.', { cause });
  }
}

async function listen(
  http: Awaited<ReturnType<typeof createHttp>>,
  { HOST: host, PORT: port }: Env,
): Promise<void> {
  try {
    await http.listen({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new StartError(`Port ${port} is in use. Stop the other program, or set PORT.`, { cause });
    }
    throw new StartError(`Cannot listen on ${host}:${port} (${code}). Correct HOST and PORT.`, { cause });
  }
}

function unreachable({ DATABASE_URL }: Env, cause: unknown): unknown {
  const { code } = cause as { code?: string };
  if (!DATABASE_URL || !code) return cause;
  // The address may hold a password, so only its host is shown.
  const { host } = new URL(DATABASE_URL);
  return new StartError(
    `DATABASE_URL: the database at ${host} cannot be used (${code}). Start it, or correct the address.`,
    {
      cause,
    },
  );
}

/** Errors whose one line is written for an operator; others are defects and keep their stack. */
function forOperator(error: unknown): unknown {
  const isKnown = error instanceof EmbeddedDatabaseError || error instanceof OccupiedError;
  return isKnown ? new StartError(error.message, { cause: error }) : error;
}
