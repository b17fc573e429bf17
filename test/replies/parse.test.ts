import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ImageRoom } from '../../src/replies/context/context.room.ts';
import { cutToRoom } from '../../src/replies/context/context.window.ts';
import { NamePrefix } from '../../src/replies/growing/growing.prefix.ts';
import { GrowingReply } from '../../src/replies/growing/growing.reply.ts';
import { GrowingText } from '../../src/replies/growing/growing.text.ts';
import { parseModelMentions, withLabels, withoutAddress } from '../../src/replies/replies.mentions.ts';
import { until } from '../support/poll.ts';
import { gate } from './desk.ts';

const id = fc.stringMatching(/^[a-z0-9][a-z0-9/:._-]{0,20}[a-z0-9]$/);
const spelled = (text: string) => parseModelMentions(text).map(({ spellings }) => spellings);

describe('mentions of models', () => {
  it('are found whatever stands around them', () => {
    const before = fc.constantFrom('', ' ', '(', '\n', 'Hello, ', '😀', '<@U:x|@y> ', '@', '"');
    const after = fc.constantFrom('', ' ', ')', ',', '.', '...', ':', '?!', '\n', '’s', '@', '😀');
    fc.assert(
      fc.property(before, id, after, (start, model, end) => {
        expect(spelled(`${start}@${model}${end}`).flat()).toContain(model);
        expect(spelled(`${start}<@M:${model}|${model}>${end}`)).toContainEqual([model]);
      }),
    );
  });

  it('give the longest spelling first', () => {
    fc.assert(
      fc.property(id, fc.stringMatching(/^[/:._-]{0,40}$/), (model, end) => {
        const [spellings = []] = spelled(`@${model}${end}`);
        expect(spellings[0]).toBe(model + end);
        expect(spellings.at(-1)).toBe(model);
        expect(spellings.length).toBeLessThanOrEqual(5);
      }),
    );
  });

  it('are not part of a word, an address or a label', () => {
    for (const text of ['mail@small', 'ä@small', '<@U:1|@small>', '<@C:small>', '@ small', '@-small', '@'])
      expect(spelled(text)).toEqual([]);
  });

  it('take no more time than the length of any text is worth', () => {
    const piece = fc.constantFrom('@', '<@M:', '<@M:a|', '|', '>', '<', '@a', '.', 'a', ' ', ':', '<@U:');
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 8 }), (pieces) => {
        const text = pieces.join('').repeat(65_536).slice(0, 65_536);
        const began = performance.now();
        parseModelMentions(text);
        withLabels(text);
        // Some milliseconds on an idle machine; a quadratic step would take minutes.
        expect(performance.now() - began).toBeLessThan(1_000);
      }),
      { numRuns: 20 },
    );
  });

  it('are shown to models by their labels', () => {
    expect(withLabels('<@M:a/b|The A> and <@U:1|Ann>, <@M:c> or <@M:open')).toBe(
      '@The A and @Ann, @c or <@M:open',
    );
  });
});

describe('an address at the beginning', () => {
  it.each([
    ['@small Hello', 'Hello'],
    ['@small, hello', 'hello'],
    ['<@M:small|Small> Hello', 'Hello'],
    ['@smaller Hello', '@smaller Hello'],
    ['@small', '@small'],
    ['Hello @small', 'Hello @small'],
  ])('of %j leaves %j', (content, left) => {
    expect(withoutAddress(content, 'small')).toBe(left);
  });
});

it('a name at the beginning of a reply is held back only while it may be one', () => {
  const prefix = new NamePrefix(['Small']);
  const pushed = Array.from({ length: 2_000 }, () => prefix.push(' ')).join('');
  expect(pushed + prefix.end()).toBe(' '.repeat(2_000));
  expect(pushed).not.toBe('');
});

it('the images of replies have room for one person, and for all', () => {
  const [one, other, third] = ['ann', 'ann', 'bob'].map((person) => new ImageRoom(person));
  const MIB = 1024 ** 2;
  expect([one?.take(20 * MIB), other?.take(20 * MIB), third?.take(32 * MIB), third?.take(1)]).toEqual([
    ...[true, false, true, false],
  ]);
  one?.release();
  expect(other?.take(20 * MIB)).toBe(true);
  other?.release();
  third?.release();
});

it('an image that is read when its reply has ended takes no room', () => {
  const ended = new ImageRoom('ann');
  ended.release();
  expect(ended.take(1)).toBe(false);
  const next = new ImageRoom('ann');
  expect(next.take(32 * 1024 ** 2)).toBe(true);
  next.release();
});

describe('a growing text', () => {
  it('is the same for a client that follows the rule from any save on', () => {
    const step = fc.oneof(
      fc.string({ unit: 'binary' }).map((piece) => ({ piece })),
      fc.constant('save' as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), fc.nat(30), (steps, readAt) => {
        const growing = new GrowingText(10_000);
        let saved = '';
        let client: string | undefined;
        let savesSince = 0;
        for (const [n, one] of steps.entries()) {
          if (n === readAt) {
            client = saved;
            savesSince = 0;
          }
          if (one === 'save') {
            saved = growing.text;
            growing.noteSave(saved.length);
            savesSince += 1;
            continue;
          }
          growing.add(one.piece);
          const { offset, content } = growing.delta();
          expect(content.isWellFormed()).toBe(true);
          // With one save after the read, the next delta still begins within the text that was read.
          if (client !== undefined && savesSince <= 1) expect(offset).toBeLessThanOrEqual(client.length);
          if (client === undefined || offset > client.length) continue;
          client = client.slice(0, offset) + content;
          savesSince = 0;
          expect(client).toBe(growing.text);
        }
      }),
    );
  });

  it('joins halves of characters, and drops what cannot be stored', () => {
    const growing = new GrowingText(100);
    growing.add('a\0\ud83c');
    expect(growing.text).toBe('a');
    growing.add('\udf32');
    expect(growing.text).toBe('a🌲');
    growing.add('\udf32!');
    expect(growing.text).toBe('a🌲\uFFFD!');
  });

  it('ends at its limit, at a whole character', () => {
    const growing = new GrowingText(10);
    expect(growing.add('12345678')).toBe(true);
    expect(growing.add('🌲🌲')).toBe(false);
    expect(growing.text).toBe('12345678');
  });
});

describe('the calls of tools of a growing reply', () => {
  const newCall = () => ({
    ...{ id: 'call_0', tool_id: 'clock', name: 'now', arguments: '{}', status: 'running' as const },
    ...{ awaits_answer: false, statuses: [] as string[], result: null, duration_ms: null, files: [] },
  });

  it('are saved again when they change during a save', async () => {
    const first = gate();
    const saves: unknown[] = [];
    const growing = new GrowingReply({
      notify: () => {},
      async save(_content, data) {
        saves.push(structuredClone(data.tool_calls));
        await first.opened;
      },
    });
    const call = newCall();
    growing.noteCall(call);
    call.statuses.push('Looking');
    growing.noteCall(call);
    first.open();
    await until('the second save', () => saves.length === 2);
    expect(saves).toMatchObject([[{ statuses: [] }], [{ statuses: ['Looking'] }]]);
    await growing.close();
  });

  it('are saved again after a save that failed', async () => {
    let saves = 0;
    const growing = new GrowingReply({
      notify: () => {},
      async save() {
        saves += 1;
        if (saves === 1) throw new Error('The database does not answer.');
      },
    });
    growing.noteCall(newCall());
    await until('the second save', () => saves === 2);
    await growing.close();
  });
});

it('a conversation is cut to the room: the last message, the root, and the newest of the others', () => {
  const piece = fc.record({
    text: fc.string({ maxLength: 300 }),
    imageTokens: fc.constantFrom(0, 0, 50),
    isRoot: fc.constant(false),
  });
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 200, max: 2_000 }),
      (given, room) => {
        const pieces = given.map((one, n) => ({ ...one, n, isRoot: n === 0 }));
        const { kept, leftOut } = cutToRoom(pieces, room);
        expect(kept.length + leftOut).toBe(pieces.length);
        expect(kept[0]?.n).toBe(0);
        const rest = kept.slice(1).map(({ n }) => n);
        expect(rest).toEqual(rest.map((_, n) => pieces.length - rest.length + n));
      },
    ),
  );
});
