import { setTimeout as delay } from 'node:timers/promises';
import { scrape } from '../test/support/metrics.ts';
import type { Point } from './checks/trend.ts';
import type { Installation } from './setup/installation.ts';

/** What is followed of each server process. */
export const FIGURES = {
  memory: 'process_resident_memory_bytes',
  heap: 'nodejs_heap_size_used_bytes',
  handles: 'process_open_fds',
} as const;
export type Figure = keyof typeof FIGURES;

/** The points of one process since its last start, by figure. */
export type Series = Record<Figure, Point[]>;

export interface Followed {
  /** All points of each server, over all its starts. */
  all: Series[];
  /** Those since its last start. */
  ofLastLife: Series[];
}

const EVERY_MS = 2_000;
const none = (): Series => ({ memory: [], heap: [], handles: [] });

/** Reads /metrics of each process until the signal. Processes that do not answer are left out. */
export async function followMetrics(
  { servers, metricsToken }: Installation,
  signal: AbortSignal,
): Promise<Followed> {
  const began = performance.now();
  const all = servers.map(none);
  const ofLastLife = servers.map(none);
  const lives = servers.map(() => 0);
  while (!signal.aborted) {
    await Promise.all(
      servers.map(async (server, n) => {
        const own = await Promise.race([
          scrape(server.url, metricsToken).catch(() => null),
          delay(EVERY_MS, null),
        ]);
        if (!own) return;
        if (lives[n] !== server.lives()) ofLastLife[n] = none();
        lives[n] = server.lives();
        const seconds = (performance.now() - began) / 1000;
        for (const figure of Object.keys(FIGURES) as Figure[]) {
          const point = { seconds, value: own.value(FIGURES[figure]) };
          all[n]?.[figure].push(point);
          ofLastLife[n]?.[figure].push(point);
        }
      }),
    );
    await delay(EVERY_MS, undefined, { signal }).catch(() => {});
  }
  return { all, ofLastLife };
}
