import { setTimeout as delay } from 'node:timers/promises';

/** The longest time over which the sockets of a stopping process are closed. */
const SPREAD_MS = 2_000;
const TICK_MS = 10;
/** The smallest group: fewer sockets are closed at once. */
const LEAST_A_TICK = 10;

/** Closes sockets one group after the other, so that their clients do not all reconnect at one moment. */
export async function closeInSpread<T>(all: Iterable<T>, close: (one: T) => unknown): Promise<void> {
  const left = [...all];
  const group = Math.max(LEAST_A_TICK, Math.ceil(left.length / (SPREAD_MS / TICK_MS)));
  while (left.length > 0) {
    for (const one of left.splice(0, group)) close(one);
    if (left.length > 0) await delay(TICK_MS);
  }
}
