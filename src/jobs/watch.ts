import { keepSweeping } from '../core/sweep.ts';
import type { Database } from '../database/sql.ts';
import {
  countJobs,
  forgetJobs,
  listHeld,
  listOrphaning,
  releaseJobsOf,
  settleJob,
} from './queue.repository.ts';

/** A job of a killed process waits for two rounds and the pick-up. */
const LOOK_MS = 5_000;
const FORGET_MS = 3_600_000;
/** How long jobs that failed for good are kept, with their errors. */
const KEPT_DAYS = 7;

export interface WatchOptions {
  sql: Database;
  workerId: string;
  isRunning(jobId: string): boolean;
  /** The jobs that this process runs now. */
  listRunning(): string[];
  /** Called for a job that runs here though another worker may have it. */
  onLost(jobId: string): void;
  onCounted(counts: { kind: string; waiting: number; failed: number }[]): void;
  onError(error: unknown): void;
}

/**
 * Maintains the queue in the background: releases jobs of workers that are gone, and jobs that this worker has in the database but does
 * not run, because the answer to its pick-up was lost. Each is released after two rounds: a worker that has just lost its connection
 * comes back within a second, and the end of a job may be about to be written.
 */
export function watchQueue(options: WatchOptions): { close(): Promise<void> } {
  const { sql, workerId, isRunning, listRunning, onLost, onCounted, onError } = options;
  let goneBefore = new Set<string>();
  let lostBefore = new Set<string>();

  async function releaseOthers(): Promise<void> {
    const gone = await listOrphaning(sql, workerId);
    const surely = gone.filter((worker) => goneBefore.has(worker));
    goneBefore = new Set(gone);
    if (surely.length > 0) await releaseJobsOf(sql, surely);
  }

  async function compareOwn(): Promise<void> {
    const running = listRunning();
    const held = await listHeld(sql, workerId);
    const ids = new Set(held.map(({ id }) => id));
    for (const id of running) if (!ids.has(id)) onLost(id);
    const lost = held.filter(({ id, is_old }) => is_old && !isRunning(id));
    for (const { id } of lost.filter((job) => lostBefore.has(job.id))) {
      await settleJob(sql, id, workerId, { as: 'returned', waitSeconds: 0, error: null });
    }
    lostBefore = new Set(lost.map(({ id }) => id));
  }

  const looking = keepSweeping(
    LOOK_MS,
    async () => {
      await releaseOthers();
      await compareOwn();
      onCounted(await countJobs(sql));
    },
    onError,
  );
  const forgetting = keepSweeping(FORGET_MS, () => forgetJobs(sql, KEPT_DAYS), onError);
  return {
    async close() {
      await Promise.all([looking.close(), forgetting.close()]);
    },
  };
}
