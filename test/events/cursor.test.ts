import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CursorKeeper, formatCursor, parseCursor, SETTLED_MICROS, tagOf } from '../../src/events/cursor.ts';

const SECOND = 1_000_000;
/** The clock of the database at the beginning of a story. */
const BEGIN = 1_700_000_000 * SECOND;
const idOf = (channel: number) => `018f0000-0000-7000-8000-00000000000${channel}`;

describe('a cursor', () => {
  it('is parsed to the same value as it was formatted from', () => {
    const positions = fc.dictionary(fc.uuid().map(tagOf), fc.nat(Number.MAX_SAFE_INTEGER % 10 ** 15));
    fc.assert(
      fc.property(fc.nat(Number.MAX_SAFE_INTEGER), positions, (momentMicros, entries) => {
        const cursor = { momentMicros, positions: new Map(Object.entries(entries)) };
        expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
      }),
    );
  });

  it('refuses any other text with one kind of error', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          expect(formatCursor(parseCursor(text))).toBe(text.replace(/^0+(?=\d)/, ''));
        } catch (error) {
          expect(error).toMatchObject({ code: 'bad_request' });
        }
      }),
    );
  });

  it('does not grow with quiet channels', () => {
    const keeper = new CursorKeeper({ momentMicros: BEGIN, positions: new Map() }, BEGIN);
    let cursor = '';
    for (let n = 0; n < 1000; n += 1) {
      const channel = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
      cursor = keeper.advance(channel, 1, (BEGIN + n * SECOND) * 1000);
      keeper.settle();
    }
    expect(parseCursor(cursor).positions.size).toBeLessThan(65);
  });
});

/*
 * A story has events in two channels, up to minutes apart. A reader receives them in the order of each
 * channel and loses its connection at any place. It must continue at the place where it stopped.
 */
const CHANNELS = [0, 1];
const channel = fc.constantFrom(...CHANNELS);
const moves = fc.array(
  fc.oneof(
    fc.record({
      move: fc.constant('event' as const),
      channel,
      afterSeconds: fc.constantFrom(0, 1, 30, 61, 100),
    }),
    fc.record({ move: fc.constant('read' as const), channel }),
    fc.constant({ move: 'readAll' as const }),
    fc.constant({ move: 'reconnect' as const }),
  ),
  { maxLength: 40, size: 'max' },
);

describe('a reader with a cursor', () => {
  it('continues where it stopped, in every channel, after any time', () => {
    fc.assert(
      fc.property(moves, (story) => {
        const log: number[][] = CHANNELS.map(() => []);
        const seen = CHANNELS.map(() => 0);
        let now = BEGIN;
        let cursor = formatCursor({ momentMicros: BEGIN - SETTLED_MICROS, positions: new Map() });
        let keeper = new CursorKeeper(parseCursor(cursor), now);

        const read = (channel: number) => {
          const at = log[channel]?.[seen[channel] ?? 0];
          if (at === undefined) return;
          seen[channel] = (seen[channel] ?? 0) + 1;
          cursor = keeper.advance(idOf(channel), seen[channel] ?? 0, at * 1000);
        };
        const isBehind = (channel: number) => (seen[channel] ?? 0) < (log[channel]?.length ?? 0);

        for (const step of story) {
          if (step.move === 'event') {
            now += step.afterSeconds * SECOND + 1;
            log[step.channel]?.push(now);
          } else if (step.move === 'read') {
            read(step.channel);
            if (!CHANNELS.some(isBehind)) keeper.settle();
          } else if (step.move === 'readAll') {
            for (const channel of CHANNELS) while (isBehind(channel)) read(channel);
            keeper.settle();
          } else {
            keeper = new CursorKeeper(parseCursor(cursor), now);
            for (const channel of CHANNELS) {
              const byMoment = (log[channel] ?? []).filter((at) => at <= keeper.momentMicros).length;
              expect(keeper.numberOf(idOf(channel)) ?? byMoment).toBe(seen[channel]);
            }
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});
