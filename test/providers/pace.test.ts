import { expect, it, onTestFinished } from 'vitest';
import { closePace, nextRead, openPace } from '../../src/providers/stream/pace.ts';

/** When the streams of this process may be read. */

function open(streams: number): void {
  for (let n = 0; n < streams; n += 1) openPace();
  onTestFinished(() => {
    for (let n = 0; n < streams; n += 1) closePace();
  });
}

it('lets few streams be read at once', () => {
  open(7);
  expect(nextRead()).toBeUndefined();
});

it('lets many streams be read together, with other work between groups of 16', async () => {
  open(40);
  let round = 0;
  let isOver = false;
  const count = () => {
    round += 1;
    if (!isOver) setImmediate(count);
  };
  const reads = Array.from({ length: 40 }, async () => {
    await nextRead();
    return round;
  });
  setImmediate(count);
  const rounds = await Promise.all(reads);
  isOver = true;
  const groups = [...Map.groupBy(rounds, (at) => at).values()].map((group) => group.length);
  expect(groups).toEqual([16, 16, 8]);
});
