import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withClient } from './database.ts';
import { until } from './poll.ts';
import { UNPRIVILEGED } from './postgres.ts';
import { freePort } from './process.ts';
import { proxyDatabase } from './proxy.ts';

/** Of Debian's package; another one is tested by its path. */
const PROGRAM = process.env.PGBOUNCER ?? 'pgbouncer';

const [, major = '0', minor = '0'] =
  /(\d+)\.(\d+)/.exec(spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? [];
const isInstalled = major !== '0';
/** From 1.21 on it can keep the named statements of its clients apart. */
export const canKeepStatements = Number(major) > 1 || Number(minor) >= 21;

/** The reason why tests with PgBouncer are skipped here; undefined when they run. In CI they fail instead. */
export const withoutPgBouncer = !isInstalled && process.env.CI !== 'true';

export interface TestPgBouncer {
  /** The address with `pool_mode=transaction`. */
  transaction: string;
  /** The address with `pool_mode=session`. */
  session: string;
  /** Ends it at once, like a crash, and starts it again at the same address. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts PgBouncer before a database. @param settings of its own configuration */
export async function startPgBouncer(
  databaseUrl: string,
  settings: Record<string, string | number> = {},
): Promise<TestPgBouncer> {
  const proxy = await proxyDatabase(databaseUrl);
  const folder = await mkdtemp(join(tmpdir(), 'parley-pgbouncer-'));
  // It does not run as root.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chown(folder, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  const port = await freePort();
  const { username, password, pathname } = new URL(databaseUrl);
  const target = `host=127.0.0.1 port=${proxy.port} dbname=${pathname.slice(1)} user=${username} password=${decodeURIComponent(password)}`;
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    default_pool_size: 10,
    max_client_conn: 500,
    ignore_startup_parameters: 'statement_timeout,idle_in_transaction_session_timeout',
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const modes = ['transaction', 'session'].map((mode) => `${mode} = ${target} pool_mode=${mode}`);
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(file, ['[databases]', ...modes, '[pgbouncer]', ...lines, ''].join('\n'));
  const urlOf = (mode: string) => `postgresql://${username}@127.0.0.1:${port}/${mode}`;

  let child: ChildProcess;
  async function launch(): Promise<void> {
    child = spawn(PROGRAM, [file], { ...(isRoot && UNPRIVILEGED), cwd: '/', stdio: 'ignore' });
    await until('PgBouncer to answer', () =>
      withClient(urlOf('transaction'), (client) => client.query('select 1')).then(
        () => true,
        () => child.exitCode !== null && 'ended',
      ),
    );
  }
  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await launch();
  return {
    transaction: urlOf('transaction'),
    session: urlOf('session'),
    async restart() {
      await end();
      await launch();
    },
    async stop() {
      await end();
      await proxy.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
