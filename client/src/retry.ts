const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 10_000;

/**
 * The delay before a retry: it doubles up to ten seconds, and half of it is random, so that the clients of a
 * server that restarts do not all reconnect at the same moment.
 *
 * @param attempt counts from 0
 */
export function retryDelayMs(attempt: number): number {
  const ceiling = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt);
  return ceiling * (0.5 + Math.random() / 2);
}

/** Waits; rejects with the signal's reason as soon as it aborts, and leaves no timer behind. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}
