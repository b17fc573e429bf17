import { AppError } from '../core/errors.ts';
import type { Start } from './subscriber/outlet.ts';

/**
 * The position of a subscriber in all its channels, as one short text that a client sends back to resume.
 *
 * A number for every channel would grow with their count. Instead the text holds a moment, before which every event was
 * handed out, and numbers only for channels with an event since: `<moment>` or `<moment>;<tag>:<number>;…`, the moment in
 * microseconds of the database's clock, the channels by `tagOf`.
 */
export interface Cursor {
  momentMicros: number;
  positions: ReadonlyMap<string, number>;
}

/**
 * A stream's id, a UUID, in eleven characters instead of 36, because a cursor is sent with every event: the random half of a version 7
 * UUID.
 */
export const tagOf = (stream: string): string =>
  Buffer.from(stream.slice(-17).replace('-', ''), 'hex').toString('base64url');

/**
 * How far the moment stays behind an event. A transaction lasts at most 20 s (`database/orm.ts`), and a notice that was lost
 * between processes is made up for within 5 s, so no older event can still appear.
 */
export const SETTLED_MICROS = 60_000_000;

/** Room for some 15,000 channels in which something happened within the last minute. */
const MAX_LENGTH = 250_000;
/** For how many unreadable channels a position is kept. */
const MAX_OTHERS = 100;
const TAG = /^[\w-]{11}$/;
const NUMBER = /^\d{1,15}$/;
const MOMENT = /^\d{1,16}$/;

export function formatCursor({ momentMicros, positions }: Cursor): string {
  return [momentMicros, ...[...positions].map(([tag, number]) => `${tag}:${number}`)].join(';');
}

const notOurs = () =>
  new AppError('bad_request', { detail: 'lastEventId: is not one that this server has given.' });

/** @throws bad_request for text that `formatCursor` did not make */
export function parseCursor(text: string): Cursor {
  if (text.length > MAX_LENGTH) throw notOurs();
  const [moment = '', ...entries] = text.split(';');
  const momentMicros = Number(moment);
  if (!MOMENT.test(moment) || !Number.isSafeInteger(momentMicros)) throw notOurs();
  return { momentMicros, positions: new Map(entries.map(parseEntry)) };
}

function parseEntry(entry: string): [string, number] {
  const [tag = '', number = '', ...rest] = entry.split(':');
  if (rest.length > 0 || !TAG.test(tag) || !NUMBER.test(number)) throw notOurs();
  return [tag, Number(number)];
}

/** Microseconds as nanoseconds, in text because a double is not exact enough. */
export const toNanoseconds = (micros: number): string => `${micros}000`;

/** The position of one subscriber. */
export class CursorKeeper implements Start {
  /** A client learns with the first answer that its subscription has started, and expects nothing before. */
  readonly expected = new Set<string>();
  readonly #recent = new Map<string, { number: number; micros: number }>();
  #momentMicros: number;
  #newestMicros = 0;

  /** @param nowMicros the database's time: the process that gave out the cursor had seen no later event */
  constructor({ momentMicros, positions }: Cursor, nowMicros: number) {
    this.#momentMicros = momentMicros;
    for (const [tag, number] of positions) this.#recent.set(tag, { number, micros: nowMicros });
  }

  /**
   * Keeps the positions in these channels, and a few in others, which may become readable again. Without the bound a client could send
   * any number of positions, which each subscription would keep and write with each event.
   */
  keepAmong(channels: Iterable<string>): void {
    const tags = new Set(Array.from(channels, tagOf));
    let others = 0;
    for (const tag of this.#recent.keys()) {
      if (!tags.has(tag) && ++others > MAX_OTHERS) this.#recent.delete(tag);
    }
  }

  /** In channels without a number, every event up to this moment was handed out. */
  get momentMicros(): number {
    return this.#momentMicros;
  }

  /** The number of the newest event of the channel that was handed out; undefined when the moment decides. */
  numberOf(channel: string): number | undefined {
    return this.#recent.get(tagOf(channel))?.number;
  }

  /** Notes where the subscriber begins in a channel that became readable, unless it has a number already. */
  begin(channel: string, number: number): void {
    const tag = tagOf(channel);
    if (this.#recent.has(tag)) return;
    // No event that happened by now is later than this; the clocks differ by less than what `settle` leaves.
    this.#recent.set(tag, { number, micros: Date.now() * 1000 });
  }

  /** Notes that an event of a channel was handed out, and returns the cursor. */
  advance(channel: string, number: number, createdAtNs: number): string {
    const micros = Math.round(createdAtNs / 1000);
    this.#recent.set(tagOf(channel), { number, micros });
    this.#newestMicros = Math.max(this.#newestMicros, micros);
    // Like `formatCursor`, without a map and lists: this runs for each event and subscriber.
    let text = String(this.#momentMicros);
    for (const [tag, at] of this.#recent) text += `;${tag}:${at.number}`;
    return text;
  }

  /** Called when the subscriber has every event of all its channels: numbers of old events are dropped, and the moment moves on. */
  settle(): void {
    this.#momentMicros = Math.max(this.#momentMicros, this.#newestMicros - SETTLED_MICROS);
    for (const [tag, { micros }] of this.#recent) {
      if (micros <= this.#momentMicros) this.#recent.delete(tag);
    }
  }
}
