import { expect, it, onTestFinished } from 'vitest';
import { keepSweeping } from '../../src/core/sweep.ts';
import { until } from '../support/poll.ts';

const ignore = () => {};

it('a task that takes longer than its interval runs once, and the end does not wait for more', async () => {
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  let runs = 0;
  const sweeping = keepSweeping(
    1,
    () => {
      runs += 1;
      return gate;
    },
    ignore,
  );
  let intervals = 0;
  const counting = setInterval(() => {
    intervals += 1;
  }, 1);
  onTestFinished(() => clearInterval(counting));
  await until('some intervals', () => intervals > 20);
  open();
  await sweeping.close();
  expect(runs).toBe(1);
});

it('a task that fails runs again at the next interval', async () => {
  let runs = 0;
  const failures: unknown[] = [];
  const sweeping = keepSweeping(
    1,
    async () => {
      runs += 1;
      throw new Error(`${runs}`);
    },
    (error) => failures.push(error),
  );
  await until('two failures', () => failures.length > 1);
  await sweeping.close();
});
