import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawnMain } from './process.ts';

let started: Promise<string> | undefined;

/**
 * Makes a data folder as a server leaves it that was started once and has no account yet. It is a copy: making the embedded database
 * takes longer than most of what is tested on it.
 */
export async function copyDataFolder(to: string): Promise<void> {
  started ??= startOnce();
  // With the owners: as root, another user runs PostgreSQL.
  await promisify(execFile)('cp', ['-a', `${await started}/.`, to]);
}

async function startOnce(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-test-data-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const server = spawnMain({ DATA_DIR: folder });
  await server.ready();
  await server.stop();
  return folder;
}
