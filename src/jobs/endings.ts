import { setTimeout as delay } from 'node:timers/promises';
import { outageIn } from '../core/outage.ts';

const RETRY_MS = 1_000;
/** Attempts of a write that fails while the database answers, such as for a missing right. */
const ATTEMPTS = 5;

/**
 * The writes at the end of jobs. The library drops them while the database is away, and does not wait for them when it stops; the job
 * would then run a second time.
 */
export interface Endings {
  /** Writes as soon as the database answers. Never fails: a write that is given up is reported, and the job is released later. */
  write(work: () => Promise<unknown>): Promise<void>;
  /** Resolves when everything is written, or after so long. */
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
