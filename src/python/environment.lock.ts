import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

const SQLITE_BUSY = 5;
const RETRY_MS = 200;

/**
 * Runs work while no other process does the same for this file. SQLite takes a kernel lock, which ends with its process in any case;
 * Node has no file locks of its own.
 */
export async function whileLocked<T>(file: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const lock = new DatabaseSync(file, { timeout: 0 });
  try {
    while (!tryToLock(lock)) await delay(RETRY_MS, undefined, { signal });
    return await work();
  } finally {
    lock.close();
  }
}

function tryToLock(lock: DatabaseSync): boolean {
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    return false;
  }
}
