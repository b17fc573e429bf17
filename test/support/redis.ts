import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from './poll.ts';
import { freePort } from './process.ts';

/** Debian's package is redis-server; Valkey speaks the same protocol. */
export const PROGRAM = ['redis-server', 'valkey-server'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/**
 * The reason why tests with several processes are skipped here; undefined when they run. In CI they fail
 * instead.
 */
export const withoutRedis = !PROGRAM && process.env.CI !== 'true';

export interface TestRedis {
  url: string;
  pid(): number;
  /** Runs a command directly, without the server under test. */
  ask<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
  /** Ends it at once like a crash; its data is lost. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  restart(): Promise<void>;
  /** Keeps its connections open without answers, until `resume`. */
  hang(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Starts a Redis without files, on a free port of this machine. */
export async function startRedis(): Promise<TestRedis> {
  if (!PROGRAM) throw new Error('Neither redis-server nor valkey-server is installed.');
  const folder = await mkdtemp(join(tmpdir(), 'parley-redis-'));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let child: ChildProcess;

  async function ask<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
    redis.on('error', () => {});
    try {
      await redis.connect();
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }
  async function launch(): Promise<void> {
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    child = spawn(PROGRAM ?? '', settings, { cwd: folder, stdio: 'ignore' });
    await until('Redis to answer', () =>
      ask((redis) => redis.ping()).then(
        () => true,
        () => false,
      ),
    );
  }
  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await launch();
  return {
    url,
    pid: () => child.pid ?? 0,
    ask,
    kill,
    restart: launch,
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      await kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
