import { setTimeout as pause } from 'node:timers/promises';

/** Small, so that other transactions never wait long for such a row. */
const BATCH = 1000;
/** A pause between batches, for other users of the database. */
const BREATH_MS = 50;

/**
 * Removes rows in batches until none are left. @param remove removes at most so many, and returns how many
 */
export async function removeAll(
  remove: (most: number) => Promise<number>,
  signal?: AbortSignal,
): Promise<void> {
  while (!signal?.aborted && (await remove(BATCH)) === BATCH)
    await pause(BREATH_MS, undefined, { ref: false });
}

/**
 * Runs a task now and at a fixed interval, until it is closed. A task that is still running at the next interval is not run a second
 * time: an outage would leave a queue of tasks, and `close` would wait for all of them.
 *
 * @param work    the task; its signal aborts when it should stop
 * @param onError called when the task fails; the task runs again at the next interval
 */
export function keepSweeping(
  everyMs: number,
  work: (signal: AbortSignal) => Promise<unknown>,
  onError: (error: unknown) => void,
): { close(): Promise<void> } {
  const stop = new AbortController();
  let running: Promise<unknown> | undefined;
  const sweep = () => {
    running ??= Promise.resolve()
      .then(() => work(stop.signal))
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
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
