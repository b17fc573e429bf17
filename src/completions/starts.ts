import { setTimeout as delay } from 'node:timers/promises';

/** The start of a turn takes some milliseconds of the processor; so often one may begin in this process. */
const EVERY_MS = 4;

let last: Promise<void> = Promise.resolve();
let lastAt = Number.NEGATIVE_INFINITY;

/** Resolves when the turn may begin: when many begin at once, each waits for the one before, and other calls go on between them. */
export function untilStart(): Promise<void> {
  last = last.then(begin);
  return last;
}

async function begin(): Promise<void> {
  const leftMs = lastAt + EVERY_MS - performance.now();
  if (leftMs > 0) await delay(leftMs);
  lastAt = performance.now();
}
