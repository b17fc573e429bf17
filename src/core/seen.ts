import { nowSeconds } from './time.ts';

const FLUSH_MS = 30_000;

export interface Seen {
  /** Notes that one was seen just now; costs a set insertion. */
  seen(id: string): void;
  close(): Promise<void>;
}

/**
 * Collects what was seen and stores it in one statement now and then, instead of one write for each time.
 *
 * @param store takes the ids and when that was, in Unix seconds
 */
export function collectSeen(
  store: (ids: string[], atSeconds: number) => Promise<void>,
  onError: (error: unknown) => void,
): Seen {
  let noted = new Set<string>();

  async function flush() {
    if (noted.size === 0) return;
    const ids = [...noted];
    noted = new Set();
    await store(ids, nowSeconds()).catch(onError);
  }

  const timer = setInterval(() => void flush(), FLUSH_MS);
  timer.unref();
  return {
    seen: (id) => void noted.add(id),
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
