import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { until } from './poll.ts';
import { freePort } from './process.ts';
import { PROGRAM } from './redis.ts';

/** Several Redis servers that know each other. */
export interface SeveralRedis {
  url: string;
  /** Kills a master, and waits until another server has its place. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const PASSWORD = 'p@ss word';
const ENCODED = encodeURIComponent(PASSWORD);
/** How long a server may be silent before another one takes its place. */
const SILENT_MS = '1000';

async function launcher() {
  const folder = await mkdtemp(join(tmpdir(), 'parley-redis-'));
  const children = new Map<number, ChildProcess>();
  async function launch(...settings: string[]): Promise<number> {
    const port = await freePort();
    const cwd = join(folder, String(port));
    await mkdir(cwd);
    const own = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    const account = ['--requirepass', PASSWORD, '--masterauth', PASSWORD];
    children.set(port, spawn(PROGRAM ?? '', [...own, ...account, ...settings], { cwd, stdio: 'ignore' }));
    await until('Redis to answer', async () => (await ask(port, 'ping')) === 'PONG');
    return port;
  }
  async function kill(port: number): Promise<void> {
    const child = children.get(port);
    children.delete(port);
    child?.kill('SIGKILL');
    if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  async function stop(): Promise<void> {
    await Promise.all([...children.keys()].map(kill));
    await rm(folder, { recursive: true, force: true });
  }
  return { folder, children, launch, kill, stop };
}

/** The answer to a command; undefined when the server does not answer, or refuses. */
async function ask(port: number, command: string, ...args: string[]): Promise<unknown> {
  const redis = new Redis({ port, password: PASSWORD, lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => {});
  try {
    await redis.connect();
    return await redis.call(command, ...args);
  } catch {
    return undefined;
  } finally {
    redis.disconnect();
  }
}

/** Three masters with a replica each. */
export async function startRedisCluster(): Promise<SeveralRedis> {
  const { launch, kill, stop } = await launcher();
  const settings = [
    ...['--cluster-enabled', 'yes', '--cluster-node-timeout', SILENT_MS],
    ...['--repl-diskless-sync-delay', '0'],
  ];
  // Unless told, a node takes a port 10,000 higher, which another program may have.
  const node = async () => launch(...settings, '--cluster-port', String(await freePort()));
  const ports = await Promise.all(Array.from({ length: 6 }, node));
  const nodes = ports.map((port) => `127.0.0.1:${port}`);
  const [client = 'redis-cli'] = [PROGRAM?.replace('server', 'cli')];
  await promisify(execFile)(
    client,
    ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'],
    { env: { ...process.env, REDISCLI_AUTH: PASSWORD } },
  );
  const isWhole = async (port: number) => String(await ask(port, 'cluster', 'info')).includes('state:ok');
  /** The ports of the masters that work, as a node knows them. */
  const mastersAt = async (port: number): Promise<number[]> => {
    const lines = String(await ask(port, 'cluster', 'nodes'))
      .trim()
      .split('\n');
    return lines.flatMap((line) => {
      const [, address, flags = '', , , , , , slots] = line.split(' ');
      if (!/master/.test(flags) || /fail/.test(flags) || slots === undefined) return [];
      return [Number(/:(\d+)/.exec(address ?? '')?.[1])];
    });
  };
  await until('the cluster', async () => (await Promise.all(ports.map(isWhole))).every(Boolean));
  // A replica that has not got its master's data yet never takes that master's place.
  const isCopied = async (port: number) =>
    /role:master|master_link_status:up/.test(String(await ask(port, 'info', 'replication')));
  await until('the replicas', async () => (await Promise.all(ports.map(isCopied))).every(Boolean));
  return {
    url: `redis+cluster://:${ENCODED}@${nodes.slice(0, 3).join(',')}`,
    async failOver() {
      const [killed = 0, other = 0] = await mastersAt(ports[0] ?? 0);
      await kill(killed);
      await until('another master', async () => {
        const masters = await mastersAt(other);
        return masters.length === 3 && !masters.includes(killed) && isWhole(other);
      });
    },
    stop,
  };
}

/** A master, its replica, and a sentinel that watches them. */
export async function startSentinel(): Promise<SeveralRedis> {
  const { folder, children, launch, kill, stop } = await launcher();
  const master = await launch();
  const replica = await launch('--replicaof', '127.0.0.1', String(master));
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  await writeFile(
    file,
    [
      `port ${port}`,
      'bind 127.0.0.1',
      `requirepass "${PASSWORD}"`,
      `sentinel monitor parley 127.0.0.1 ${master} 1`,
      `sentinel auth-pass parley "${PASSWORD}"`,
      `sentinel down-after-milliseconds parley ${SILENT_MS}`,
      'sentinel failover-timeout parley 5000',
    ].join('\n'),
  );
  children.set(port, spawn(PROGRAM ?? '', [file, '--sentinel'], { cwd: folder, stdio: 'ignore' }));
  const named = async () => (await ask(port, 'sentinel', 'get-master-addr-by-name', 'parley')) as string[];
  await until('the sentinel', async () => (await named())?.[1] === String(master));
  await until('the sentinel to know the replica', async () =>
    JSON.stringify(await ask(port, 'sentinel', 'replicas', 'parley')).includes('"master-link-status","ok"'),
  );
  return {
    url: `redis+sentinel://:${ENCODED}@127.0.0.1:${port}/parley?sentinel_password=${ENCODED}`,
    async failOver() {
      await kill(master);
      await until('another master', async () => (await named())?.[1] === String(replica));
    },
    stop,
  };
}
