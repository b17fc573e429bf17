import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from './poll.ts';

const ROOT = join(import.meta.dirname, '../..');
export const MAIN = join(ROOT, 'src/main.ts');
/** The path of an installed Node before 24; undefined without one. */
export const OLD_NODE = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => {
  const { status, stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
  return status === 0 && Number.parseInt(stdout.slice(1), 10) < 24;
});
/** What processes of the server run: in a run of all tests a bundle of the same sources (`bundle.ts`). */
const started = process.env.TEST_MAIN ?? MAIN;
/** As in `npm start`: a process that finds the compiled modules starts in half the time. */
export const COMPILED = { NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile') };

/**
 * Below the ports that the system assigns to programs and clients, since another program may get one of those
 * a moment later.
 */
const PORTS = [15_000, 32_000] as const;
const given = new Set<number>();

/** A port without a listener, which no program gets while its server is stopped. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    if (given.has(port)) continue;
    given.add(port);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}

export interface ServerProcess {
  child: ChildProcess;
  /** The whole output so far. */
  output: { stdout: string; stderr: string };
  /** The address in the last lines of a start; fails when the process ends before. */
  ready(): Promise<string>;
  /** Resolves when the process has ended in any way. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

export interface ProcessOptions {
  user?: { uid: number; gid: number } | undefined;
  cwd?: string;
  /** The file to run. */
  main?: string;
  /** The arguments of the program. */
  args?: string[];
}

/** Starts a server with this environment; only PATH comes from the environment of the test. */
export function spawnMain(
  env: Record<string, string>,
  { user, cwd, main = started, args = [] }: ProcessOptions = {},
): ServerProcess {
  const child = spawn(process.execPath, [main, ...args], {
    env: {
      ...COMPILED,
      PATH: process.env.PATH ?? '',
      PORT: '0',
      ENV: 'test',
      PYTHON: '/dev/null',
      EMBEDDED_MODEL: 'off',
      SHUTDOWN_GRACE: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...user,
    cwd,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  const closed = once(child, 'close').then(() => ({ code: child.exitCode, signal: child.signalCode }));
  return {
    child,
    output,
    async ready() {
      const running = /running at (http:[^\s,]+)/;
      await until('the server to run or end', () => running.test(output.stdout) || isOver(child));
      const [, url] = running.exec(output.stdout) ?? [];
      if (url) return url;
      // Output that was written before the end may still arrive.
      await closed;
      throw new Error(`The server did not start: ${output.stderr}`);
    },
    ended: () => closed,
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return closed;
    },
  };
}

const isOver = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null;

export interface OtherProcess {
  pid: number;
  parent: number;
  command: string;
}

/** All processes of the machine, as Linux shows them in /proc. */
export async function listProcesses(): Promise<OtherProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      try {
        const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
        const command = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).replaceAll('\0', ' ').trim();
        // The name in parentheses may contain anything; the format after the last parenthesis is fixed.
        const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        return state === 'Z' ? [] : [{ pid: Number(pid), parent: Number(parent), command }];
      } catch {
        // The process ended in between.
        return [];
      }
    }),
  );
  return found.flat();
}

/** All descendants of a process that are still connected to it by their parents. */
export async function descendantsOf(pid: number): Promise<OtherProcess[]> {
  const all = await listProcesses();
  const below = (parent: number): OtherProcess[] =>
    all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(pid);
}

export function isAlive({ pid }: { pid: number }): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

let copied: Promise<string> | undefined;

/**
 * Makes a data folder like that of a server that was copied once and has no account yet. The folder is a
 * copy, because making the embedded database takes longer than most tests that use it.
 */
export async function copyDataFolder(to: string): Promise<void> {
  copied ??= startOnce();
  // Keeps the owners: under root, PostgreSQL runs as another user.
  await promisify(execFile)('cp', ['-a', `${await copied}/.`, to]);
}

async function startOnce(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-data-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const server = spawnMain({ DATA_DIR: folder });
  await server.ready();
  await server.stop();
  return folder;
}
