import cluster from 'node:cluster';
import { rmSync } from 'node:fs';
import type { Worker } from '../core/processes/workers.ts';

/**
 * Ends this worker when its primary was killed, with what the primary leaves behind: the embedded PostgreSQL, which workers end by
 * its fast shutdown, and their sockets. Node ends the worker after this listener.
 */
export function endWithPrimary({ database, folder }: Worker): void {
  // A message to a primary that has just ended fails; the end of the channel says all.
  process.on('error', () => {});
  cluster.worker?.on('disconnect', () => {
    try {
      if (database !== null) process.kill(database, 'SIGINT');
    } catch {
      // Another worker was first, and it has ended.
    }
    rmSync(folder, { recursive: true, force: true });
  });
}
