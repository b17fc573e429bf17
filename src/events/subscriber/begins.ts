import { toNanoseconds } from '../cursor.ts';
import type { EventHub } from '../hub/hub.ts';
import { idOf, kindOf, streamOf } from '../streams.ts';

/** Where a subscriber begins in a stream. */
export interface Begin {
  /** The number to go on behind. */
  number: number;
  /** The number of the newest event; as the log says it where `number` is beyond that of the hub. */
  head: number;
  /** Whether no number was known, so that the moment decided. */
  isByMoment: boolean;
}

/**
 * Where to begin in streams that the hub follows by now. A stream that does not exist any more begins nowhere.
 *
 * @param numberOf     the number to go on behind, where one is known
 * @param momentMicros decides where none is
 */
export async function findBegins(
  hub: EventHub,
  streams: readonly string[],
  numberOf: (stream: string) => number | undefined,
  momentMicros: number,
): Promise<Map<string, Begin>> {
  const begins = new Map<string, Begin>();
  const unknown: string[] = [];
  for (const stream of streams) {
    const head = hub.head(stream) ?? 0;
    const number = numberOf(stream);
    // This process may not have heard of an event yet that the client has had from another.
    if (number === undefined || number > head) unknown.push(stream);
    if (number !== undefined) begins.set(stream, { number, head, isByMoment: false });
  }
  for (const kind of hub.kinds) {
    const ids = unknown.filter((stream) => kindOf(stream) === kind.name).map(idOf);
    if (ids.length === 0) continue;
    for (const { id, head, position } of await kind.standings(ids, toNanoseconds(momentMicros))) {
      const stream = streamOf(kind.name, id);
      const known = begins.get(stream);
      begins.set(stream, { number: known?.number ?? position, head, isByMoment: !known });
    }
  }
  return begins;
}
