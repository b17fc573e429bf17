import { z } from 'zod';
import { AppError } from '../core/errors.ts';

/**
 * Where a subscriber stands in all its channels, as one short text that a client hands back to go on.
 *
 * Naming a number for every channel would grow with their count. Instead the text holds a moment, before which everything was
 * handed out, and numbers for those channels only in which something happened since: `<moment>` or
 * `<moment>;<channel>:<number>;…`, the moment in microseconds of the database's clock.
 */
export interface Cursor {
  momentMicros: number;
  positions: ReadonlyMap<string, number>;
}

/**
 * How far behind an event the moment stays. A transaction lives at most 20 s (`database/orm.ts`), and a notice that was lost
 * between processes is made good within 5 s, so nothing older can still appear.
 */
export const SETTLED_MICROS = 60_000_000;

const MAX_LENGTH = 200_000;
const Entry = z.tuple([z.guid(), z.coerce.number().int().min(0)]);

export function formatCursor({ momentMicros, positions }: Cursor): string {
  return [momentMicros, ...[...positions].map(([channel, number]) => `${channel}:${number}`)].join(';');
}

/** @throws bad_request for what `formatCursor` did not make */
export function parseCursor(text: string): Cursor {
  const [moment, ...entries] = text.split(';');
  const momentMicros = z.coerce.number().int().min(0).safeParse(moment);
  const positions = z.array(Entry).safeParse(entries.map((entry) => entry.split(':')));
  if (text.length > MAX_LENGTH || moment === '' || !momentMicros.success || !positions.success) {
    throw new AppError('bad_request', { detail: 'lastEventId: is not one that this server has given.' });
  }
  return { momentMicros: momentMicros.data, positions: new Map(positions.data) };
}

/** Microseconds as nanoseconds in text, which no double has to hold. */
export const toNanoseconds = (micros: number): string => `${micros}000`;

/** Keeps track of where one subscriber stands. */
export class CursorKeeper {
  readonly #recent = new Map<string, { number: number; micros: number }>();
  #momentMicros: number;
  #newestMicros = 0;

  constructor({ momentMicros, positions }: Cursor) {
    this.#momentMicros = momentMicros;
    // Whoever gave out the cursor had seen nothing later than this.
    const micros = momentMicros + SETTLED_MICROS;
    for (const [channelId, number] of positions) this.#recent.set(channelId, { number, micros });
  }

  /** Notes that a channel's event was handed out, and returns where the subscriber stands now. */
  advance(channelId: string, number: number, createdAtNs: number): string {
    const micros = Math.round(createdAtNs / 1000);
    this.#recent.set(channelId, { number, micros });
    this.#newestMicros = Math.max(this.#newestMicros, micros);
    const positions = new Map([...this.#recent].map(([id, at]) => [id, at.number]));
    return formatCursor({ momentMicros: this.#momentMicros, positions });
  }

  /** Says that the subscriber has everything of all its channels: what is old enough needs no number any more. */
  settle(): void {
    this.#momentMicros = Math.max(this.#momentMicros, this.#newestMicros - SETTLED_MICROS);
    for (const [channelId, { micros }] of this.#recent) {
      if (micros <= this.#momentMicros) this.#recent.delete(channelId);
    }
  }
}
