import { setImmediate } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/** Resolves once for each round of the event loop, in the order of the calls: when many turns begin at once, other work goes on between. */
export function untilStart(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
