import { setTimeout as delay } from 'node:timers/promises';

/** The start of a turn takes some milliseconds of the processor; so often one may begin in this process. */
const EVERY_MS = 4;

let freeAt = 0;

/** Resolves when the turn may begin: when many begin at once, each waits for the one before, and other calls go on between them. */
export async function untilStart(): Promise<void> {
  const now = performance.now();
  const at = Math.max(now, freeAt);
  freeAt = at + EVERY_MS;
  if (at > now) await delay(at - now);
}
