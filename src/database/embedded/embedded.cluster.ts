import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, lchown, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Binaries, Identity } from './embedded.binaries.ts';
import { EmbeddedDatabaseError, isDiskFull } from './embedded.errors.ts';

/** A cluster folder, its programs and their user. */
export interface Cluster {
  dir: string;
  binaries: Binaries;
  identity: Identity | undefined;
}

/** The role and the database of the server. */
export const NAME = 'parley';

const DRAFT = 'postgres.new-';

/**
 * Starts one of the PostgreSQL programs in the cluster folder. It gets no environment of the server (secrets), and a
 * session of its own: a terminal's Ctrl-C must not end the database before the server's last request.
 */
export function spawnIn(cluster: Cluster, program: 'initdb' | 'postgres', args: string[]): ChildProcess {
  return spawn(cluster.binaries[program], args, {
    ...cluster.identity,
    cwd: cluster.dir,
    detached: true,
    env: { LC_ALL: 'C' },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
}

/**
 * The cluster folder as an argument. Another user may have no right to enter its parents (a checkout in `/root`), but
 * the working directory is entered before the user changes, and this link leads there directly.
 */
export function dataArgument({ dir, identity }: Cluster): string {
  return identity && platform() === 'linux' ? '/proc/self/cwd' : dir;
}

/** Collects the last lines that a PostgreSQL program writes, and finds the line with the reason of a failure. */
export function watchLines(stderr: Readable, onLine?: (line: string) => void): { reason(): string } {
  const lines: string[] = [];
  createInterface({ input: stderr }).on('line', (line) => {
    lines.push(line);
    if (lines.length > 50) lines.shift();
    onLine?.(line);
  });
  const reason = () =>
    // A full disk also causes other messages.
    lines.find((line) => isDiskFull(line)) ??
    lines.findLast((line) => /FATAL|PANIC|[Ee]rror:/.test(line)) ??
    lines.at(-1) ??
    'no message';
  return { reason };
}

/** Checks the cluster in `dataDir`, or makes one with the role and database; returns the role's password. */
export async function prepareCluster(cluster: Cluster, dataDir: string): Promise<string> {
  await removeDrafts(dataDir);
  const version = (await readFile(join(cluster.dir, 'PG_VERSION'), 'utf8').catch(ignoreMissing))?.trim();
  const [major] = cluster.binaries.version.split('.');
  if (version !== undefined && version !== major) {
    throw new EmbeddedDatabaseError(
      `The data folder ${dataDir} holds a cluster of PostgreSQL ${version}, but this server runs ${major}: move the data with pg_dump, or set DATA_DIR to another folder.`,
    );
  }
  if (version !== undefined) await mendRights(cluster);

  const passwordFile = join(dataDir, 'postgres.password');
  const kept = (await readFile(passwordFile, 'utf8').catch(ignoreMissing))?.trim();
  if (version !== undefined && kept) return kept;
  const password = randomBytes(32).toString('hex');
  if (version === undefined) await createCluster(cluster, dataDir, password);
  else await execute(cluster, [`ALTER ROLE ${NAME} PASSWORD '${password}'`]);
  // Last: after an interrupted start the next one finds no password, and sets a new one.
  await writeFile(passwordFile, password, { mode: 0o600 });
  return password;
}

/** A cluster gets its name when it is complete, so that an interrupted start leaves no half of one. */
async function createCluster(cluster: Cluster, dataDir: string, password: string): Promise<void> {
  await rm(join(dataDir, 'postgres.password'), { force: true });
  const draft: Cluster = { ...cluster, dir: await mkdtemp(join(dataDir, DRAFT)) };
  try {
    if (cluster.identity) await lchown(draft.dir, cluster.identity.uid, cluster.identity.gid);
    const folder = dataArgument(draft);
    await finish(
      spawnIn(draft, 'initdb', [
        ...['-D', folder, '--username=postgres', '--auth=reject', '--no-instructions'],
        // The built-in locale sorts the same on every system, as indexes require.
        ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
        // Huge pages end in SIGBUS where a container may use fewer than the host has.
        ...['-c', 'huge_pages=off', '-c', 'log_line_prefix='],
      ]),
    );
    const accessRules = `${folder}/pg_hba.conf`.replaceAll("'", "''");
    await execute(draft, [
      `CREATE ROLE ${NAME} LOGIN CREATEDB PASSWORD '${password}'`,
      `CREATE DATABASE ${NAME} OWNER ${NAME}`,
      // The superuser cannot connect: single-user mode serves the owner of the folder. PostgreSQL writes the
      // file itself, because root should write nothing into a folder of another user.
      `COPY (SELECT 'local all ${NAME} scram-sha-256') TO '${accessRules}'`,
    ]);
    await rename(draft.dir, cluster.dir);
  } catch (error) {
    await rm(draft.dir, { recursive: true, force: true });
    throw error;
  }
}

/** Runs statements without a server, as the superuser, up to the first failure. */
async function execute(cluster: Cluster, statements: string[]): Promise<void> {
  const args = ['--single', '-D', dataArgument(cluster), '-c', 'exit_on_error=on', 'postgres'];
  await finish(spawnIn(cluster, 'postgres', args), `${statements.join('\n')}\n`);
}

async function finish(child: ChildProcess, input = ''): Promise<void> {
  const { stdin, stderr } = child;
  if (!stdin || !stderr) throw new Error('The child was started without pipes');
  const lines = watchLines(stderr);
  // A child that fails early closes its input. Its exit status is reported instead of EPIPE.
  stdin.on('error', () => undefined);
  stdin.end(input);
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(lines.reason()))));
  });
}

/** PostgreSQL wants to own its folder, closed to others: volume drivers open it, and root owns a restored backup. */
async function mendRights({ dir, identity }: Cluster): Promise<void> {
  await chmod(dir, 0o700);
  if (!identity || (await stat(dir)).uid === identity.uid) return;
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), identity.uid, identity.gid);
  }
  // Last, so that an interrupted run is repeated.
  await lchown(dir, identity.uid, identity.gid);
}

async function removeDrafts(dataDir: string): Promise<void> {
  for (const name of await readdir(dataDir)) {
    if (name.startsWith(DRAFT))
      await rm(join(dataDir, name), { recursive: true, force: true, maxRetries: 5 });
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
