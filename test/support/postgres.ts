import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from './database.ts';
import { until } from './poll.ts';

/** The oldest version that `DATABASE_URL` may name, at the path of Debian's packages. */
const BINARIES = '/usr/lib/postgresql/15/bin';
/** PostgreSQL does not run as root; this account without rights exists on every system. */
export const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;

/**
 * The reason why tests with an old PostgreSQL are skipped here; undefined when they run. In CI they fail
 * instead.
 */
export const withoutOldPostgres = !existsSync(BINARIES) && process.env.CI !== 'true';

export interface OldPostgres {
  /** Its role may create databases. */
  url: string;
  /** Ends it, and starts it again at the same address. */
  end(): Promise<void>;
  start(): Promise<void>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

/** Starts a temporary PostgreSQL 15 on a Unix socket, like the server of an operator. */
export function startOldPostgres(): Promise<OldPostgres> {
  return startIn((data) => {
    const options = [
      '-D',
      data,
      '-U',
      'parley',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C.UTF-8',
      '--no-sync',
    ];
    return ['initdb', ...options];
  });
}

/** Starts a replica of it, which streams from it. */
export function startReplica(primary: OldPostgres): Promise<OldPostgres> {
  const host = new URL(primary.url).searchParams.get('host') ?? '';
  return startIn((data) => [
    'pg_basebackup',
    '-h',
    host,
    '-U',
    'parley',
    '-D',
    data,
    '-R',
    '-c',
    'fast',
    '--no-sync',
  ]);
}

async function startIn(make: (data: string) => [string, ...string[]]): Promise<OldPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-pg15-'));
  if (isRoot) await chown(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const own = { ...(isRoot && UNPRIVILEGED), cwd: folder };
  const data = join(folder, 'data');
  const [program, ...options] = make(data);
  const made = spawnSync(join(BINARIES, program), options, { ...own, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`${program} failed: ${made.stderr}`);
  const settings = { listen_addresses: '', unix_socket_directories: folder, fsync: 'off' };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = `postgresql://parley@localhost/postgres?host=${encodeURIComponent(folder)}`;
  let child: ChildProcess;
  async function start(): Promise<void> {
    child = spawn(join(BINARIES, 'postgres'), ['-D', data, ...args], { ...own, stdio: 'ignore' });
    await until('PostgreSQL 15 to answer', () =>
      withClient(url, async () => true).catch(() => child.exitCode !== null && 'ended'),
    );
  }
  async function end(): Promise<void> {
    child.kill('SIGINT');
    if (child.exitCode === null) await once(child, 'exit');
  }
  await start();
  return {
    url,
    start,
    end,
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
