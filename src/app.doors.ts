import type { AddressInfo } from 'node:net';
import type { AppOptions } from './app.base.ts';
import type { Closers } from './closers.ts';
import { hasAccounts } from './configs/client/accounts.service.ts';
import type { Parts } from './core/scope.ts';
import { measurePool } from './database/metrics.ts';
import type { PooledDatabase } from './database/sql.ts';
import { mountHealth } from './doors/health.ts';
import { listen } from './doors/http/listen.ts';
import { createHttp } from './doors/http.ts';
import { mountMetrics } from './doors/metrics/metrics.ts';
import { mountSocketIo } from './doors/socketio/socketio.ts';
import { mountTrpcSockets } from './doors/trpc/trpc.sockets.ts';
import { measureBus, measureHub } from './events/metrics.ts';
import type { RedisClient } from './events/redis.ts';
import { measureJobs } from './jobs/metrics.ts';
import { nounMetrics, nounReadiness } from './nouns.ts';
import { measurePython } from './python/metrics.ts';
import { appRouter } from './router.ts';
import type { Telemetry } from './telemetry/telemetry.types.ts';

export interface App {
  url: string;
  /** True while no account exists: the first one becomes the administrator. */
  isNew: boolean;
  /** Makes `/ready` answer 503, so that balancers send new calls elsewhere; calls are still served. */
  drain(): void;
  /** Stops everything in order: doors first, the database last. */
  close(): Promise<void>;
}

interface DoorSources {
  parts: Parts;
  redis: RedisClient | null;
  sql: PooledDatabase;
  telemetry: Telemetry | null;
}

/** Mounts the doors on the parts, and listens. */
export async function openDoors(
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
