import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { onTestFinished } from 'vitest';
import {
  type DatabaseAddress,
  type EmbeddedDatabase,
  type EmbeddedOptions,
  startEmbedded,
} from '../../src/database/embedded/embedded.ts';
import { until as untilIt } from '../support/poll.ts';
import { copyDataFolder } from '../support/process.ts';

export const isRoot = process.getuid?.() === 0;
/** An account without rights that every system has. */
export const NOBODY = { uid: 65534, gid: 65534 };

/** A folder that is deleted after the test. */
export async function temporaryFolder(mode = 0o700): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  await chmod(folder, mode);
  return folder;
}

/** A folder of which the database was made before. */
export async function usedFolder(): Promise<string> {
  const folder = await temporaryFolder();
  await copyDataFolder(folder);
  return folder;
}

/** Starts a database in this process, and stops it after the test. */
export async function start(
  dataDir: string,
  options: Partial<EmbeddedOptions> = {},
): Promise<EmbeddedDatabase> {
  const database = await startEmbedded({ dataDir, log: () => undefined, ...options });
  onTestFinished(() => database.stop());
  return database;
}

/** Runs one statement on a new connection. */
export async function query(address: DatabaseAddress, sql: string): Promise<Record<string, unknown>[]> {
  const { dbName: database, ...rest } = address;
  const client = new Client({ ...rest, database });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const PROGRAM = `
  process.on('SIGTERM', () => process.exit(1));
  const { startEmbedded } = await import(process.argv[1]);
  try {
    const { address, pid } = await startEmbedded({ dataDir: process.argv[2], log() {} });
    console.log(JSON.stringify({ address, pid }));
  } catch (error) {
    console.log(JSON.stringify({ refusal: error.name + ': ' + error.message }));
  }
`;

export interface Reported {
  address: DatabaseAddress;
  pid: number;
  refusal?: string;
}

/** A process that starts a database, like a server does. */
export function spawnServer(dataDir: string, user?: { uid: number; gid: number }): ChildProcess {
  const source = new URL('../../src/database/embedded/embedded.ts', import.meta.url).href;
  const args = ['--import', HOLDING, '--input-type=module', '-e', PROGRAM, source, dataDir];
  const child = spawn(process.execPath, args, {
    ...user,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    if (child.kill('SIGTERM')) await once(child, 'exit');
  });
  return child;
}

/** The output of such a process: the address of its database, or an error. */
export async function reported(child: ChildProcess): Promise<Reported> {
  if (!child.stdout) throw new Error('The server was started without a pipe');
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line);
  throw new Error('The server ended without a word');
}

/** The reason why `NOBODY` cannot run this program from here; undefined when it can. */
export async function whyNobodyCannotRun(): Promise<string | undefined> {
  const source = fileURLToPath(new URL('../../src/database/embedded/embedded.ts', import.meta.url));
  const program = `require('node:fs').accessSync(${JSON.stringify(source)})`;
  const probe = spawnSync(process.execPath, ['-e', program], { ...NOBODY, cwd: '/' });
  return probe.status === 0 ? undefined : 'only root can read this checkout';
}

export const until = (condition: () => boolean | Promise<boolean>) => untilIt(`${condition}`, condition);

/**
 * Makes a server wait while `postgres.hold` is in its data folder, just before a new cluster gets its name.
 */
export const HOLDING = `data:text/javascript,${encodeURIComponent(`
  import { existsSync } from 'node:fs';
  import promises from 'node:fs/promises';
  import { syncBuiltinESMExports } from 'node:module';
  import { dirname, join } from 'node:path';
  const { rename } = promises;
  promises.rename = async (from, to) => {
    while (existsSync(join(dirname(to), 'postgres.hold'))) await new Promise((resolve) => setTimeout(resolve, 10));
    return rename(from, to);
  };
  syncBuiltinESMExports();
`)}`;

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
