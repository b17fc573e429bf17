import { describe, expect, it } from 'vitest';
import { openQueue } from '../../src/python/packages/packages.queue.ts';

/** A queue of work that ends when the test says so. */
function open(bounds = { running: 2, waiting: 2 }) {
  const queue = openQueue<string>(bounds);
  const begun = new Map<string, PromiseWithResolvers<string>>();
  const outcomes: Record<string, string | undefined> = {};
  return {
    queue,
    outcomes,
    begun: () => [...begun.keys()],
    join(name: string, person: string) {
      const work = () => {
        const done = Promise.withResolvers<string>();
        begun.set(name, done);
        return done.promise;
      };
      return queue.join(name, person, work).then((outcome) => {
        outcomes[name] = outcome;
      });
    },
    async end(name: string) {
      begun.get(name)?.resolve(`${name} done`);
      begun.delete(name);
      // The next work begins and all callers are told within promise callbacks.
      await new Promise(setImmediate);
    },
    async fail(name: string) {
      begun.get(name)?.reject(new Error(name));
      begun.delete(name);
      await new Promise(setImmediate);
    },
  };
}

describe('a queue', () => {
  it('runs a limited number of tasks at a time, and one for each person', async () => {
    const one = open();
    for (const name of ['a1', 'a2']) void one.join(name, 'ann');
    for (const name of ['b1', 'b2']) void one.join(name, 'bob');
    void one.join('c1', 'cal');
    expect(one.begun()).toEqual(['a1', 'b1']);
    expect([one.queue.find('a1'), one.queue.find('a2'), one.queue.find('x')]).toEqual([
      'running',
      'waiting',
      undefined,
    ]);
    await one.end('b1');
    // The next works of Ann and Bob were queued first, and Ann's other work still runs.
    expect(one.begun()).toEqual(['a1', 'b2']);
    await one.end('b2');
    expect(one.begun()).toEqual(['a1', 'c1']);
    await one.end('a1');
    expect(one.begun()).toEqual(['c1', 'a2']);
    await one.end('a2');
    await one.end('c1');
    expect(one.outcomes).toMatchObject({ a1: 'a1 done', c1: 'c1 done' });
    expect(one.queue.find('a1')).toBeUndefined();
  });

  it('runs a task that several people want once, at the first turn of any of them', async () => {
    const one = open();
    for (const name of ['a1', 'a2', 'a3']) void one.join(name, 'ann');
    const joined = one.join('a3', 'bob');
    expect(one.begun()).toEqual(['a1', 'a3']);
    await one.end('a3');
    await joined;
    expect(one.outcomes).toEqual({ a3: 'a3 done' });
    expect(one.begun()).toEqual(['a1']);
  });

  it('goes on after a failure and reports it to the callers', async () => {
    const one = open({ running: 1, waiting: 2 });
    const failed = one.join('a1', 'ann');
    void one.join('a2', 'ann');
    const refused = expect(failed).rejects.toThrow('a1');
    await one.fail('a1');
    await refused;
    expect(one.begun()).toEqual(['a2']);
  });

  it('drops the oldest waiting task of a person with too many, unless another person wants it too', async () => {
    const one = open();
    for (const name of ['a1', 'a2', 'a3']) void one.join(name, 'ann');
    void one.join('b1', 'bob');
    void one.join('a3', 'bob');
    for (const name of ['a4', 'a5', 'a6']) void one.join(name, 'ann');
    await new Promise(setImmediate);
    expect(one.outcomes).toEqual({ a2: undefined, a4: undefined });
    expect(['a2', 'a3', 'a4', 'a5', 'a6'].map((name) => one.queue.find(name))).toEqual([
      undefined,
      'waiting',
      undefined,
      'waiting',
      'waiting',
    ]);
  });

  it('drops waiting tasks when it closes, and lets running ones end', async () => {
    const one = open();
    for (const name of ['a1', 'a2']) void one.join(name, 'ann');
    const closed = one.queue.close();
    await one.end('a1');
    await closed;
    expect(one.outcomes).toEqual({ a1: 'a1 done', a2: undefined });
    expect(one.begun()).toEqual([]);
  });
});
