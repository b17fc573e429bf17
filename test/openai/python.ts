import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const REQUIREMENTS = join(import.meta.dirname, 'python/requirements.txt');
const HASH = createHash('sha256').update(readFileSync(REQUIREMENTS)).digest('hex').slice(0, 12);
/** One environment for all runs on this machine, since making it takes a while. */
const ENVIRONMENT = join(tmpdir(), `parley-test-clients-${HASH}`);
const run = promisify(execFile);

/** The folder of a Python with the official clients. */
export const CLIENTS_BIN = join(ENVIRONMENT, 'bin');

/** Null when they are installed; otherwise the reason why they could not be. In CI that fails instead. */
export async function withoutClients(): Promise<string | null> {
  if (existsSync(ENVIRONMENT)) return null;
  const mine = `${ENVIRONMENT}.${process.pid}`;
  try {
    await run('python3', ['-m', 'venv', mine]);
    await run(join(mine, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '-r', REQUIREMENTS]);
    // Another run may have made it first.
    await rename(mine, ENVIRONMENT).catch(() => rm(mine, { recursive: true, force: true }));
    return null;
  } catch (error) {
    await rm(mine, { recursive: true, force: true });
    if (process.env.CI === 'true') throw error;
    return `the Python clients could not be installed: ${error}`;
  }
}
