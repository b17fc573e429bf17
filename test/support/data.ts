import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawnMain } from './process.ts';

let started: Promise<string> | undefined;

/**
 * Makes a data folder like that of a server that was started once and has no account yet. The folder is a
 * copy, because making the embedded database takes longer than most tests that use it.
 */
export async function copyDataFolder(to: string): Promise<void> {
  started ??= startOnce();
  // Keeps the owners: under root, PostgreSQL runs as another user.
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
