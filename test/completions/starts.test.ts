import { expect, it } from 'vitest';
import { untilStart } from '../../src/completions/starts.ts';

it('lets turns that begin at once begin one after the other, with other work between them', async () => {
  let round = 0;
  let isOver = false;
  const count = () => {
    round += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const order: number[] = [];
  const rounds = await Promise.all(
    Array.from({ length: 5 }, async (_, turn) => {
      await untilStart();
      order.push(turn);
      return round;
    }),
  );
  isOver = true;
  expect(order).toEqual([0, 1, 2, 3, 4]);
  expect(new Set(rounds).size).toBe(5);
});
