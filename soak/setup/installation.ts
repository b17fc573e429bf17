import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descendants } from '../../bench/support/processes.ts';
import { bundleServer } from '../../test/support/bundle.ts';
import { MAIN } from '../../test/support/process.ts';
import { type ScriptedProvider, startProvider } from '../../test/support/provider.ts';
import { type Proxy as Link, proxyDatabase, startProxy } from '../../test/support/proxy.ts';
import { linkEnvironment } from '../../test/support/python.ts';
import { startRedis, type TestRedis } from '../../test/support/redis.ts';
import { type Clock, movableClock } from '../faults/clock.ts';
import { mountSmallDisk, type SmallDisk } from './disk.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { type Server, startServer } from './servers.ts';

/** Two server processes on one PostgreSQL and one Redis, all of them ours. */
export interface Installation {
  servers: Server[];
  postgres: Postgres;
  redis: TestRedis;
  provider: ScriptedProvider;
  /** Between the servers and what they need; undefined without proxies. */
  links: { postgres: Link; redis: Link } | undefined;
  /** Where it cannot be made: the reason. */
  disk: SmallDisk | string;
  clock: Clock | string;
  metricsToken: string;
  /** The addresses for clients. */
  urls: string[];
  /** All processes of the servers, by name. */
  pids(): Record<'servers' | 'postgres' | 'redis' | 'tools', number[]>;
  stop(): Promise<void>;
}

export interface InstallationOptions {
  /** With proxies, a small disk and a movable clock; without them nothing takes time from the servers. */
  withFaults: boolean;
  withTools: boolean;
  processes?: number;
  /** Runs the bundle, which starts in half the time of the sources. */
  isBundled?: boolean;
}

const MODEL = 'small';
const METRICS_TOKEN = 'metrics-of-a-soak-that-ends-by-itself';

/** Starts all parts, and stops those that run when one fails. */
export async function startInstallation(options: InstallationOptions): Promise<Installation> {
  const { withFaults, withTools, processes = 2, isBundled = true } = options;
  const closers: (() => unknown)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  const keep = <Part>(part: Part, close: (part: Part) => unknown): Part => {
    closers.push(() => close(part));
    return part;
  };
  try {
    const dataDir = await mkdtemp(join(tmpdir(), 'parley-soak-'));
    closers.push(() => rm(dataDir, { recursive: true, force: true }));
    const disk = withFaults ? await mountSmallDisk(join(dataDir, 'uploads')) : 'not asked for';
    if (typeof disk !== 'string') closers.push(disk.close);
    const clock = withFaults ? await movableClock(dataDir) : 'not asked for';
    if (withTools) await linkEnvironment(dataDir);
    const postgres = keep(await startPostgres(), (one) => one.stop());
    const redis = keep(await startRedis(), (one) => one.stop());
    const provider = keep(await startProvider(MODEL), (one) => one.close());
    const links = withFaults
      ? {
          postgres: keep(await proxyDatabase(postgres.url), (one) => one.close()),
          redis: keep(await startProxy({ host: '127.0.0.1', port: Number(new URL(redis.url).port) }), (one) =>
            one.close(),
          ),
        }
      : undefined;
    const env = {
      DATA_DIR: dataDir,
      DATABASE_URL: links ? (links.postgres as Link & { url: string }).url : postgres.url,
      REDIS_URL: links ? `redis://127.0.0.1:${links.redis.port}` : redis.url,
      SECRET_KEY: 'of a soak that runs for an hour and no longer',
      METRICS_TOKEN,
      EGRESS_ALLOW: '127.0.0.1',
      ENABLE_API_KEYS: 'true',
      LOG_LEVEL: 'error',
      ...(withTools && { PYTHON: 'python3', HOME: process.env.HOME ?? '/' }),
    };
    const main = isBundled ? await bundleServer() : MAIN;
    const servers: Server[] = [];
    for (let n = 0; n < processes; n += 1) {
      // One process has the movable clock: two clocks that disagree are the hard case.
      const own = n === 1 && typeof clock !== 'string' ? clock.env : {};
      const server = await startServer({ env: { ...env, ...own }, main, isProxied: withFaults });
      servers.push(keep(server, (one) => one.stop()));
      await server.untilReady();
    }
    const pidsOf = () => servers.flatMap((server) => server.pid() ?? []);
    return {
      ...{ servers, postgres, redis, provider, links, disk, clock, stop },
      metricsToken: METRICS_TOKEN,
      urls: servers.map(({ publicUrl }) => publicUrl),
      pids: () => ({
        servers: pidsOf(),
        postgres: postgres.pids(),
        redis: [redis.pid()],
        tools: pidsOf().flatMap((pid) => descendants(pid).map((child) => child.pid)),
      }),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
