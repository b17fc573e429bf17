import { setTimeout as delay } from 'node:timers/promises';

/** The start of a call takes some milliseconds of the processor; so often one may begin in this process. */
const EVERY_MS = 4;

let last: Promise<void> = Promise.resolve();
let lastAt = Number.NEGATIVE_INFINITY;

/**
 * Resolves when a call of a model may begin. When many begin at once, each waits for the one before, and other calls go on between them.
 * Awaited before the first statement of the call.
 */
export function untilStart(): Promise<void> {
  last = last.then(begin);
  return last;
}

async function begin(): Promise<void> {
  const leftMs = lastAt + EVERY_MS - performance.now();
  if (leftMs > 0) await delay(leftMs);
  lastAt = performance.now();
}
