import { setTimeout as pause } from 'node:timers/promises';

/** Small enough that whoever else wants such a row never waits long. */
const BATCH = 1000;
/** Leaves the database to others between batches. */
const BREATH_MS = 50;

/** Removes what there is in batches, until there is no more. @param remove takes away at most so many, and says how many */
export async function removeAll(
  remove: (most: number) => Promise<number>,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await remove(BATCH)) === BATCH)
    await pause(BREATH_MS, undefined, { ref: false });
}

/**
 * Does a piece of housekeeping now and every so often, one at a time, until it is closed.
 *
 * @param work    what it does; its signal fires when it should stop
 * @param onError told when it fails; the next time it is tried again
 */
export function keepSweeping(
  everyMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): { close(): Promise<void> } {
  const stop = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const sweep = () => {
    running = running.then(() => work(stop.signal)).catch(onError);
  };
  sweep();
  const timer = setInterval(sweep, everyMs).unref();
  return {
    async close() {
      clearInterval(timer);
      stop.abort();
      await running;
    },
  };
}
