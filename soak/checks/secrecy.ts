import type { RightChange } from '../faults/rights.ts';
import type { HeardChannel, PostEntry } from '../load/journal.ts';
import type { Finding } from './events.ts';

/**
 * How long after the answer to a change of rights the other process may still send: a right that was taken reaches the sockets of every
 * process within a second.
 */
export const REVOCATION_MS = 1_000;

/** A time without the right: from the end of a revocation, with its delay, to the begin of the next grant. */
export interface Without {
  fromMs: number;
  toMs: number;
}

/** The times when a guest surely had no right to a channel. */
export function timesWithout(
  changes: readonly RightChange[],
  personId: string,
  channelId: string,
  delayMs = REVOCATION_MS,
): Without[] {
  const own = changes.filter((change) => change.personId === personId && change.channelId === channelId);
  const times: Without[] = [];
  // Guests begin without it.
  let fromMs: number | null = 0;
  for (const { isGiven, fromMs: beganMs, toMs } of own) {
    if (isGiven && fromMs !== null) {
      times.push({ fromMs, toMs: beganMs });
      fromMs = null;
    } else if (!isGiven) fromMs = toMs + delayMs;
  }
  if (fromMs !== null) times.push({ fromMs, toMs: Number.POSITIVE_INFINITY });
  return times;
}

/**
 * Finds events that a guest received although they happened and arrived within one time without the right. An event that happened before
 * may arrive late.
 *
 * @param happenedMs the earliest time of an event
 */
export function findForbidden(
  who: string,
  heard: HeardChannel,
  without: readonly Without[],
  happenedMs: (id: number) => number,
): Finding[] {
  return heard.ids.flatMap((id, index): Finding[] => {
    const atMs = heard.atMs[index] ?? 0;
    const from = happenedMs(id);
    const time = without.find(({ fromMs, toMs }) => from >= fromMs && atMs < toMs);
    if (!time) return [];
    const detail = `${who}, channel ${heard.channelId}: event ${id} arrived ${atMs - time.fromMs} ms after the right was gone`;
    return [{ kind: 'forbidden event', detail }];
  });
}

/**
 * The earliest time of each event of a channel. Numbers are in the order of the commits, so an event is later than the begin of every
 * post with a smaller number.
 *
 * @param messages the numbers of the events of posts, by the id of the message
 */
export function earliestTimes(
  messages: ReadonlyMap<string, number>,
  posts: readonly PostEntry[],
): (id: number) => number {
  const known = posts
    .flatMap(({ id, beganMs }) => {
      const event = id === null ? undefined : messages.get(id);
      return event === undefined ? [] : [{ event, beganMs }];
    })
    .toSorted((a, b) => a.event - b.event);
  let latest = 0;
  const bounds = known.map(({ event, beganMs }) => {
    latest = Math.max(latest, beganMs);
    return { event, beganMs: latest };
  });
  return (id) => bounds.findLast(({ event }) => event <= id)?.beganMs ?? 0;
}
