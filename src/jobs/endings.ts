import { setTimeout as delay } from 'node:timers/promises';
import { outageIn } from '../core/outage.ts';

const RETRY_MS = 1_000;
/** Of what fails while the database answers, such as for want of a right. */
const ATTEMPTS = 5;

/**
 * What is written when a job has ended. The library drops that when the database is away, and does not wait for it when it stops; the
 * job would run a second time.
 */
export interface Endings {
  /** Writes as soon as the database takes it. Never fails: what cannot be written is told, and the job is released later. */
  write(work: () => Promise<unknown>): Promise<void>;
  /** Resolves when all is written, or when it was given up after so long. */
  close(patienceMs: number): Promise<void>;
}

export function keepEndings(onError: (error: unknown) => void): Endings {
  const pending = new Set<Promise<void>>();
  const givenUp = new AbortController();

  async function insist(work: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; !givenUp.signal.aborted; attempt += 1) {
      try {
        await work();
        return;
      } catch (error) {
        onError(error);
        if (outageIn(error) === undefined && attempt >= ATTEMPTS) return;
        await delay(RETRY_MS, undefined, { signal: givenUp.signal }).catch(() => {});
      }
    }
  }

  return {
    write(work) {
      const task = insist(work).finally(() => pending.delete(task));
      pending.add(task);
      return task;
    },
    async close(patienceMs) {
      const patience = setTimeout(() => givenUp.abort(), patienceMs);
      await Promise.all(pending);
      clearTimeout(patience);
    },
  };
}
