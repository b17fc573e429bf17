import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EmbeddedDatabaseError } from './embedded.errors.ts';

const run = promisify(execFile);

/**
 * A setting that PostgreSQL ignores, in the command line of the server of a cluster, by which the next start finds it.
 * Command lines of other users' processes may be read; their working directories may not.
 */
export const clusterMark = (cluster: string): string => `parley.cluster=${cluster}`;

/**
 * Ends the PostgreSQL that a killed server left behind in the cluster folder, and removes its lock files, also
 * when their process id belongs to another process now, which PostgreSQL would take for a server.
 * Call it under the lock of the data folder.
 *
 * @throws EmbeddedDatabaseError when it does not end
 */
export async function endOrphan(cluster: string, socket: string, log: (line: string) => void): Promise<void> {
  const pidFile = join(cluster, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (!(pid > 0)) return;
  if (await isServerOf(cluster, pid)) {
    log(`Stopping PostgreSQL (process ${pid}) that an earlier server left behind`);
    await end(cluster, pid);
  } else if (!send(pid, 0)) {
    return;
  }
  await rm(pidFile, { force: true });
  await rm(`${socket}.lock`, { force: true });
}

async function end(cluster: string, pid: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    send(pid, signal);
    const deadline = Date.now() + 10_000;
    while (Date.now() < deadline) {
      if (!(await isServerOf(cluster, pid))) return;
      await delay(10);
    }
  }
  throw new EmbeddedDatabaseError(
    `An earlier PostgreSQL (process ${pid}) in ${cluster} does not stop: end that process, then start again.`,
  );
}

async function isServerOf(cluster: string, pid: number): Promise<boolean> {
  const mark = clusterMark(cluster);
  if (platform() === 'linux') {
    const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    return commandLine.split('\0').includes(mark);
  }
  const shown = await run('ps', ['-ww', '-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return shown.stdout.includes(`${mark} `) || shown.stdout.trimEnd().endsWith(mark);
}

/** Whether a process exists; signal 0 does nothing to it. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
