import { nowSeconds } from './time.ts';

const FLUSH_MS = 30_000;

export interface Seen {
  /** Records that an id was seen now; costs one set insertion. */
  seen(id: string): void;
  close(): Promise<void>;
}

/**
 * Collects seen ids and stores them regularly in one statement, instead of one write for each.
 *
 * @param store takes the ids and the time, in Unix seconds
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
