import type { EventHub } from '../hub/hub.ts';
import { idOf } from '../streams.ts';
import type { Start } from './outlet.ts';

/**
 * A start at this moment, so that the client gets every event from now on, though it follows its streams only later.
 *
 * @param readable     reads the streams that the person may read now
 * @param lastEventIds the numbers after which the client resumes, by the ids of the streams
 */
export async function startNow(
  hub: EventHub,
  readable: () => Promise<ReadonlySet<string>>,
  lastEventIds: Readonly<Record<string, number>>,
): Promise<Start> {
  // The clock first: events after it are due also in streams that become readable later.
  const momentMicros = await hub.now();
  const numbers = new Map(Object.entries(lastEventIds));
  const expected = new Set(await readable());
  for (const [stream, head] of await hub.heads([...expected])) {
    if (!numbers.has(idOf(stream))) numbers.set(idOf(stream), head);
  }
  return { momentMicros, numberOf: (stream) => numbers.get(idOf(stream)), begin: () => {}, expected };
}
