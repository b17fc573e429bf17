import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { createQuotas } from './access/quotas.ts';
import { keepAuditFor } from './audit/audit.retention.ts';
import { createAuthenticator } from './auth/authenticator.ts';
import { createDirectory } from './auth/ldap/ldap.directory.ts';
import { createSigninLimit } from './auth/limits/limits.ts';
import { describeMethods } from './auth/methods/methods.ts';
import { createOAuth } from './auth/oauth/oauth.providers.ts';
import { passwordCostOf } from './auth/passwords/passwords.ts';
import { trackSeen } from './auth/sessions/seen.ts';
import { removeExpiredSessions } from './auth/sessions/session.ts';
import { createHub } from './channels/events/events.hub.ts';
import { announcePresence } from './channels/events/events.presence.ts';
import { keepEventsFor } from './channels/events/events.retention.ts';
import { hasAccounts } from './configs/client/accounts.repository.ts';
import { readPins } from './configs/configs.pins.ts';
import { openConfigStore } from './configs/configs.store.ts';
import { deriveKey } from './core/keys.ts';
import { watchRoom } from './core/room.ts';
import type { Parts } from './core/scope.ts';
import { EmbeddedDatabaseError, startEmbedded } from './database/embedded.ts';
import { followNotices, notifyText } from './database/notices.ts';
import { OccupiedError, occupy } from './database/occupancy.ts';
import { DatabaseError, type DatabaseTarget, migrate, openOrm, requireUsable } from './database/orm.ts';
import { openSql } from './database/sql.ts';
import { mountHealth } from './doors/health.ts';
import { createEntrance } from './doors/http/entrance.ts';
import { createHttp } from './doors/http.ts';
import { mountMetrics } from './doors/metrics/metrics.ts';
import { mountSocketIo } from './doors/socketio/socketio.ts';
import { mountTrpcSockets } from './doors/trpc/trpc.ts';
import { createEgress, type Egress } from './egress/egress.ts';
import { entities } from './entities.ts';
import { type Env, StartError } from './env.ts';
import { createRedisBus } from './events/bus.redis.ts';
import { createLocalBus, type Topic } from './events/bus.ts';
import { createPresence } from './events/presence.ts';
import { connectRedis } from './events/redis.ts';
import { listKnownFiles } from './files/files.repository.ts';
import { openFileStore } from './files/files.store.ts';
import type { JobKind } from './jobs/kind.ts';
import { createJobs } from './jobs/worker.ts';
import { jobKinds } from './kinds.ts';
import { createPostQueue } from './messages/messages.post.queue.ts';
import { forgetOldTempIds } from './messages/messages.post.ts';
import { accountDeletion } from './nouns.ts';
import { showProgress } from './progress.ts';
import { type Python, startPython } from './python/pool.ts';
import { appRouter } from './router.ts';
import { claimSecret } from './secret.stored.ts';
import { loadSecret } from './secret.ts';
import { createToolJobs } from './tools/install/install.jobs.ts';
import { keepPackagesSwept } from './tools/install/install.sweep.ts';
import { openRunLog } from './tools/runs/runs.log.ts';
import { announceSignUp } from './webhooks/signups.ts';
import { startWebhooks } from './webhooks/webhooks.parts.ts';

/** Topics that take rights away: these notices go through PostgreSQL, too, and so arrive while Redis is away or deaf. */
const RIGHTS: readonly Topic[] = ['auth.revoked', 'auth.changed', 'groups.changed', 'channel.access'];

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
  /** Told what takes long, for whoever watches the start; the log gets it unless given. */
  announce?: ((line: string) => void) | undefined;
  /** A running one for several servers of one process; stays the caller's to close. Its own unless given. */
  python?: Python | undefined;
  /** Another way to other servers than the strict one, for tests; stays the caller's to close. */
  egress?: Egress | undefined;
  /** More kinds of jobs, for tests. */
  // biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
  jobKinds?: readonly JobKind<any>[] | undefined;
}

/**
 * Builds the server from its parts and listens.
 *
 * @throws StartError with one line for the operator; whatever was started by then is stopped again
 */
export async function startApp(options: AppOptions): Promise<App> {
  const { env, log, onFatal } = options;
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

  if (env.ENV === 'test') log.warn('ENV=test: passwords are stored so that they can be guessed. Unset it.');
  try {
    const pins = readPins(env.SETTINGS);
    const oauth = createOAuth(env);
    const directory = await createDirectory(env);
    await requirePort(env);
    const secret = await loadSecret(env);
    const target = await provideDatabase(options, closers, () => closing !== undefined);
    const orm = await openOrm(entities, target);
    closers.push(() => orm.close(true));
    await requireUsable(orm);
    await migrateVisibly(orm);
    const sql = await openSql(orm);

    const redis = env.REDIS_URL ? await connectRedis(env.REDIS_URL, log) : null;
    if (redis) closers.push(() => redis.quit().catch(() => redis.disconnect()));
    // Tools run on this machine and reach its network: to Redis they could speak as the server.
    if (env.REDIS_URL && !new URL(env.REDIS_URL).password)
      log.warn('Redis has no password, so tools may reach it. Set one, and put it into REDIS_URL.');
    const occupancy = await occupy(orm, {
      shared: redis !== null,
      fingerprint: fingerprintOf(secret),
      log,
      onLost: () => onFatal('Another process took over the database.'),
    });
    closers.push(() => occupancy.release());

    await claimSecret(sql, secret, log);
    const configs = await openConfigStore(sql, {
      secret,
      pins,
      hasEventDoors: env.ENABLE_WEBSOCKET_SUPPORT,
      log,
    });
    const prefix = `parley:${configs.installationId}:`;
    const onError = (error: unknown) => log.warn({ err: error }, 'A notice between processes failed.');
    const also = { topics: RIGHTS, send: (text: string) => notifyText(sql, text) };
    const bus = redis ? await createRedisBus(redis, { prefix, also, onError }) : createLocalBus(onError);
    closers.push(() => bus.close());
    closers.push(configs.follow(bus));
    closers.push(await followNotices({ orm, bus, log, onGap: configs.refresh }));

    const credentials = trackSeen(sql, onError);
    closers.push(() => credentials.close());
    const expiry = removeExpiredSessions(sql, onError);
    closers.push(() => expiry.close());
    const tempIds = forgetOldTempIds(sql, onError);
    closers.push(() => tempIds.close());
    const { tokens, authenticate } = createAuthenticator({
      sql,
      bus,
      configs,
      secret,
      onSeen: credentials.seen,
    });
    const hub = createHub({ sql, bus, log });
    closers.push(() => hub.close());
    const presence = createPresence(bus);
    closers.push(() => presence.close());
    closers.push(announcePresence({ presence, hub, sql, bus, onError }));
    const retention = keepEventsFor(env.EVENT_RETENTION_DAYS, { sql, onError });
    closers.push(() => retention.close());
    const audit = keepAuditFor(env.AUDIT_RETENTION_DAYS, { sql, onError });
    closers.push(() => audit.close());
    const python = options.python ?? ownPython(options);
    if (python !== options.python) closers.push(() => python.close());
    closers.push(bus.subscribe('tool.changed', ({ id }) => python.evict(id)));
    const toolRuns = openRunLog(sql, onError);
    closers.push(() => toolRuns.close());
    const packages = keepPackagesSwept({ sql, python }, (error) =>
      log.warn({ err: error }, 'Packages that no tool asks for could not be removed.'),
    );
    closers.push(() => packages.close());
    const egress = options.egress ?? createEgress({ allow: env.EGRESS_ALLOW });
    if (egress !== options.egress) closers.push(() => egress.close());
    const shared = redis && { redis, prefix };
    const webhooks = await startWebhooks({ sql, bus, configs, presence, secret }, shared, (error) =>
      log.warn({ err: error }, 'Notifications to webhooks are held up; stored ones are tried again.'),
    );
    closers.push(() => webhooks.close());

    const files = await openFileStore({
      dataDir: env.DATA_DIR,
      listKnown: (among) => listKnownFiles(sql, among),
      onError: (error) => log.warn({ err: error }, 'What uploads left behind could not be removed.'),
    });
    closers.push(() => files.close());

    // Another PostgreSQL has a disk of its own, and says itself when that is full.
    const { STORAGE_RESERVE_MB: reserve = env.DATABASE_URL ? 0 : 256 } = env;
    const room = await watchRoom([env.DATA_DIR, join(env.DATA_DIR, 'uploads')], reserve * 2 ** 20, log);
    closers.push(() => room.close());

    const jobs = createJobs({ orm, sql, log, kinds: [...jobKinds, ...(options.jobKinds ?? [])] });
    const parts: Parts = {
      room,
      jobs,
      quotas: createQuotas({ sql, bus, configs, shared }),
      orm,
      sql,
      files,
      bus,
      log,
      python,
      egress,
      webhooks,
      onSignUp: (user) => announceSignUp({ configs, webhooks, log }, user),
      secret,
      configs,
      tokens,
      oauth,
      directory,
      methods: describeMethods(env),
      passwordCost: passwordCostOf(env),
      hub,
      presence,
      posts: createPostQueue(sql),
      authenticate,
      accountDeletion,
      toolRuns,
      toolJobs: createToolJobs({ python, sql, bus, configs }, (error, tool) =>
        log.warn({ err: error, tool }, 'A tool could not be prepared.'),
      ),
      signinLimit: createSigninLimit({
        shared,
        secret,
        configs,
        knowsProxies: env.TRUSTED_PROXIES.length > 0,
      }),
      entrance: createEntrance(env),
    };
    closers.push(() => jobs.close());
    await jobs.begin(parts);
    const http = await createHttp({ parts, env, router: appRouter });
    const health = mountHealth(http, parts, redis);
    closers.push(() => http.close());
    let openSockets: () => Record<string, number> = () => ({});
    mountMetrics(http, parts, { token: env.METRICS_TOKEN, sockets: () => openSockets(), database: sql.load });
    if (env.ENABLE_WEBSOCKET_SUPPORT) {
      const sockets = mountTrpcSockets({ server: http.server, parts, router: appRouter });
      const socketIo = mountSocketIo({ server: http.server, parts, env });
      openSockets = () => ({ trpc: sockets.size, socketio: socketIo.size });
      closers.push(() => Promise.all([sockets.close(), socketIo.close()]));
    }
    await listen((at) => http.listen(at), env);
    const { port } = http.server.address() as AddressInfo;
    const host = env.HOST.includes(':') ? `[${env.HOST}]` : env.HOST;
    return { url: `http://${host}:${port}`, isNew: !(await hasAccounts(sql)), drain: health.drain, close };
  } catch (error) {
    await close();
    throw forOperator(error, env);
  }
}

async function migrateVisibly(orm: MikroORM): Promise<void> {
  const end = showProgress((seconds) => `The tables are being brought up to date: ${seconds} s so far.`);
  try {
    await migrate(orm);
  } finally {
    end();
  }
}

const fingerprintOf = (secret: string): number =>
  new DataView(deriveKey(secret, 'fingerprint').buffer).getUint32(0) >>> 1;

const ownPython = ({ env, log, announce = (line) => log.info(line) }: AppOptions): Python =>
  startPython({
    dataDir: env.DATA_DIR,
    ...(env.PYTHON && { interpreter: env.PYTHON }),
    log: { info: announce, warn: (line) => log.warn(line), progress: showProgress },
  });

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

/** Asks before anything is made or started for nothing. */
async function requirePort(env: Env): Promise<void> {
  const probe = createServer();
  await listen((at) => once(probe.listen(at), 'listening'), env);
  await promisify(probe.close.bind(probe))();
}

async function listen(
  on: (at: { host: string; port: number }) => Promise<unknown>,
  { HOST: host, PORT: port }: Env,
): Promise<void> {
  try {
    await on({ host, port });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new StartError(`Port ${port} is in use. Stop the other program, or set PORT.`, { cause });
    }
    throw new StartError(`Cannot listen on ${host}:${port} (${code}). Correct HOST and PORT.`, { cause });
  }
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
