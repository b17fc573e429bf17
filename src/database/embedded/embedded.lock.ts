import { access, constants, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EmbeddedDatabaseError } from './embedded.errors.ts';

export interface FolderLock {
  release(): Promise<void>;
}

const SQLITE_BUSY = 5;

/**
 * Keeps a second server off a data folder as long as this process lives or until `release`.
 *
 * Node has no file locks of its own; SQLite, which comes with it, takes a kernel lock on a file. This lock
 * ends with its process in any case, is not inherited by PostgreSQL, and, unlike a process id or an
 * abstract socket, is seen by another container that mounts the same volume.
 *
 * @throws EmbeddedDatabaseError when another server holds the folder; other errors when it is not writable
 */
export async function lockFolder(dataDir: string): Promise<FolderLock> {
  const pidFile = join(dataDir, 'server.pid');
  const lockFile = join(dataDir, 'server.lock');
  // Asked first because SQLite does not say which right is missing.
  await access(dataDir, constants.W_OK | constants.X_OK);
  await access(lockFile, constants.R_OK | constants.W_OK).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(lockFile, { timeout: 0 });
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    const pid = await readFile(pidFile, 'utf8').catch(() => 'unknown');
    throw new EmbeddedDatabaseError(
      `The data folder ${dataDir} is in use by another server (process ${pid.trim()}): stop that one, or set DATA_DIR to another folder.`,
    );
  }
  const held = lock;
  await writeFile(pidFile, `${process.pid}\n`);
  return {
    async release() {
      await rm(pidFile, { force: true });
      held.close();
    },
  };
}
