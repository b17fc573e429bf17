import { describe, expect, it } from 'vitest';
import { compareWithLog, findGaps } from '../../soak/checks/events.ts';
import { earliestTimes, findForbidden, timesWithout } from '../../soak/checks/secrecy.ts';
import { fitTrend } from '../../soak/checks/trend.ts';
import { checkPosts, checkReactions, type StoredMessage } from '../../soak/checks/writes.ts';
import { planFaults } from '../../soak/faults/schedule.ts';
import type { PostEntry } from '../../soak/load/journal.ts';
import { seeded } from '../../soak/setup/random.ts';

/** The checks of the soak find what they are for. */
const CHANNEL = 'general';
const kinds = (findings: { kind: string }[]) => findings.map(({ kind }) => kind);

describe('writes', () => {
  const tempId = '00000000-0000-4000-8000-000000000001';
  const post: PostEntry = {
    ...{ channelId: CHANNEL, personId: 'ann', tempId, content: `${tempId} hello`, beganMs: 100, attempts: 1 },
    ...{ ackMs: 110, id: 'm1', refused: null },
  };
  const stored = (id: string): StoredMessage => ({ id, content: post.content, meta: {}, reactions: [] });

  it('accepts an acknowledged post that is there once', () => {
    expect(checkPosts([post], [stored('m1')])).toEqual([]);
  });
  it('accepts a post without an answer that is there or not', () => {
    const unknown = { ...post, id: null, ackMs: null };
    expect([...checkPosts([unknown], []), ...checkPosts([unknown], [stored('m1')])]).toEqual([]);
  });
  it('finds a lost write', () => {
    expect(kinds(checkPosts([post], []))).toEqual(['lost write']);
  });
  it('finds a doubled write', () => {
    expect(kinds(checkPosts([post], [stored('m1'), stored('m2')]))).toEqual(['doubled write']);
  });
  it('finds a write that was refused and is there', () => {
    const refused = { ...post, id: null, ackMs: null, refused: 403 };
    expect(kinds(checkPosts([refused], [stored('m1')]))).toEqual(['changed write']);
  });
  it('accepts a write that an attempt without an answer stored before a refusal', () => {
    const repeated = { ...post, id: null, ackMs: null, refused: 403, attempts: 2 };
    expect(checkPosts([repeated], [stored('m1')])).toEqual([]);
  });
  it('finds a lost reaction', () => {
    const reaction = { channelId: CHANNEL, messageId: 'm1', personId: 'ann', name: '👍', isAcked: true };
    expect(kinds(checkReactions([reaction], new Map([['m1', stored('m1')]])))).toEqual(['lost write']);
  });
});

describe('events', () => {
  const log = { channelId: CHANNEL, first: 1, marks: [11, 12, 13, 14, 15] };
  const compare = (ids: number[], isWhole = true, marks = ids.map((id) => 10 + id)) =>
    kinds(compareWithLog('Ann', { channelId: CHANNEL, ids, marks, atMs: [] }, log, { after: 2, isWhole }));

  it('accepts all events after the position, once and in order', () => {
    expect(compare([3, 4, 5])).toEqual([]);
  });
  it('finds a doubled event', () => {
    expect(compare([3, 4, 3, 4, 5])).toEqual(['doubled event', 'doubled event']);
  });
  it('finds lost events, between others and at the end', () => {
    expect([...compare([3, 5]), ...compare([3, 4])]).toEqual(['lost event', 'lost event']);
  });
  it('lets a guest miss events, but not the last ones', () => {
    expect([...compare([3, 5], false), ...compare([4], false)]).toEqual(['lost event']);
  });
  it('finds an event out of order', () => {
    expect(compare([4, 3, 5])).toEqual(['lost event', 'event out of order']);
  });
  it('finds an event that is not that of the log', () => {
    expect(compare([3, 4, 5], true, [13, 99, 15])).toEqual(['other event']);
  });
  it('finds a gap in the log', () => {
    expect(kinds(findGaps(CHANNEL, [1, 2, 4]))).toEqual(['gap in the log']);
  });
});

describe('secrecy', () => {
  const change = (isGiven: boolean, fromMs: number, toMs: number) => ({
    ...{ channelId: CHANNEL, personId: 'guest', isGiven, fromMs, toMs },
  });
  const without = timesWithout([change(true, 100, 110), change(false, 200, 210)], 'guest', CHANNEL, 50);
  const forbidden = (atMs: number, beganMs: number) =>
    kinds(
      findForbidden(
        'guest',
        { channelId: CHANNEL, ids: [7], marks: [0], atMs: [atMs] },
        without,
        () => beganMs,
      ),
    );

  it('accepts events between the grant and the revocation with its delay', () => {
    expect([...forbidden(150, 150), ...forbidden(255, 255)]).toEqual([]);
  });
  it('accepts an event that happened with the right and arrives late', () => {
    expect(forbidden(900, 205)).toEqual([]);
  });
  it('finds an event before the grant and one after the revocation', () => {
    expect([...forbidden(50, 40), ...forbidden(300, 290)]).toEqual(['forbidden event', 'forbidden event']);
  });
  it('takes the begin of an earlier post as the earliest time of an event', () => {
    const post = { id: 'm1', beganMs: 500 } as PostEntry;
    const earliest = earliestTimes(new Map([['m1', 5]]), [post]);
    expect([earliest(4), earliest(5), earliest(9)]).toEqual([0, 500, 500]);
  });
});

describe('trends', () => {
  const points = (value: (seconds: number) => number) =>
    Array.from({ length: 900 }, (_, n) => ({ seconds: 4 * n, value: value(4 * n) }));
  const random = seeded(1);

  it('finds a figure that grows, and none in one that only varies', () => {
    expect(fitTrend(points((seconds) => 100 + seconds / 36 + 5 * random()))?.isGrowing).toBe(true);
    expect(fitTrend(points(() => 100 + 20 * random()))?.isGrowing).toBe(false);
  });
});

it('plans the same faults for the same seed, none of them at once', () => {
  const planned = planFaults(600, seeded(7));
  expect(planFaults(600, seeded(7))).toEqual(planned);
  expect(planned.length).toBeGreaterThan(20);
  for (const [n, { at }] of planned.entries()) {
    const before = planned[n - 1];
    if (before) expect(at).toBeGreaterThan(before.at + before.lasts);
  }
});
