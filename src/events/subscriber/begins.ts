import { toNanoseconds } from '../cursor.ts';
import type { EventHub } from '../hub/hub.ts';
import { idOf, kindOf, streamOf } from '../streams.ts';

/** The position where a subscriber begins in a stream. */
export interface Begin {
  /** The number after which it begins. */
  number: number;
  /** The number of the newest event; read from the log where `number` is beyond the hub's. */
  head: number;
  /** Whether no number was known, so that the moment decided. */
  isByMoment: boolean;
}

/**
 * Where to begin in streams that the hub follows already. A stream that does not exist any more gets no entry.
 *
 * @param numberOf     the number after which to begin, where it is known
 * @param momentMicros decides where it is not
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
    // The client may have got an event from another process before this process heard of it. Without events the stream may be gone.
    if (number === undefined || number > head || head === 0) unknown.push(stream);
    else begins.set(stream, { number, head, isByMoment: false });
  }
  for (const kind of hub.kinds) {
    const ids = unknown.filter((stream) => kindOf(stream) === kind.name).map(idOf);
    if (ids.length === 0) continue;
    for (const { id, head, position } of await kind.standings(ids, toNanoseconds(momentMicros))) {
      const stream = streamOf(kind.name, id);
      const number = numberOf(stream);
      begins.set(stream, { number: number ?? position, head, isByMoment: number === undefined });
    }
  }
  return begins;
}
