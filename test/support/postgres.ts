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
const NOBODY = { uid: 65_534, gid: 65_534 };

/**
 * The reason why tests with an old PostgreSQL are skipped here; undefined when they run. In CI they fail
 * instead.
 */
export const withoutOldPostgres = !existsSync(BINARIES) && process.env.CI !== 'true';

export interface OldPostgres {
  /** Its role may create databases. */
  url: string;
  stop(): Promise<void>;
}

/** Starts a temporary PostgreSQL 15 on a Unix socket, like the server of an operator. */
export async function startOldPostgres(): Promise<OldPostgres> {
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? NOBODY : {};
  const folder = await mkdtemp(join(tmpdir(), 'parley-pg15-'));
  if (isRoot) await chown(folder, NOBODY.uid, NOBODY.gid);
  const data = join(folder, 'data');
  const options = ['-D', data, '-U', 'parley', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync'];
  const made = spawnSync(join(BINARIES, 'initdb'), options, { ...user, cwd: folder, encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const settings = { listen_addresses: '', unix_socket_directories: folder, fsync: 'off' };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child: ChildProcess = spawn(join(BINARIES, 'postgres'), ['-D', data, ...args], {
    ...user,
    cwd: folder,
    stdio: 'ignore',
  });
  const url = `postgresql://parley@localhost/postgres?host=${encodeURIComponent(folder)}`;
  await until('PostgreSQL 15 to answer', () =>
    withClient(url, async () => true).catch(() => child.exitCode !== null && 'ended'),
  );
  return {
    url,
    async stop() {
      child.kill('SIGINT');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
