import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRedisBus } from '../../src/events/bus.redis.ts';
import { type Bus, createLocalBus } from '../../src/events/bus.ts';
import { until } from '../support/poll.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';

declare module '../../src/events/bus.ts' {
  interface BusTopics {
    'test.notice': number;
  }
}

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function listen(bus: Bus): number[] {
  const heard: number[] = [];
  bus.subscribe('test.notice', (notice) => heard.push(notice));
  return heard;
}

describe('the bus of one process', () => {
  it('hands notices to all of its handlers at once, whatever one of them does', () => {
    const errors: unknown[] = [];
    const bus = createLocalBus((error) => errors.push(error));
    bus.subscribe('test.notice', () => {
      throw new Error('broken handler');
    });
    const heard = listen(bus);
    const end = bus.subscribe('test.notice', () => heard.push(-1));
    bus.publish('test.notice', 1);
    end();
    bus.announce('test.notice', 2);
    expect(heard).toEqual([1, -1, 2]);
    expect(errors).toHaveLength(2);
    expect([bus.healthy, bus.shared]).toEqual([true, false]);
  });
});

describe.skipIf(withoutRedis)('the bus of several', () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function join(prefix = 'parley:test:') {
    const redis = new Redis(server.url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
    });
    redis.on('error', () => {});
    await redis.connect();
    const errors: unknown[] = [];
    const bus = await createRedisBus(redis, prefix, (error) => errors.push(error));
    undo.push(async () => {
      await bus.close();
      redis.disconnect();
    });
    const gaps: number[] = [];
    bus.onGap(() => gaps.push(Date.now()));
    return { bus, redis, gaps, errors, heard: listen(bus) };
  }

  it('carries notices to every process once and in order, and to no other installation', async () => {
    const [one, two, foreign] = [await join(), await join(), await join('parley:other:')];
    for (let i = 0; i < 100; i++) one.bus.publish('test.notice', i);
    one.bus.announce('test.notice', -1);
    const sent = Array.from({ length: 100 }, (_, i) => i);
    await until('all of them', () => two.heard.length >= 100);
    expect(two.heard).toEqual(sent);
    expect(one.heard).toEqual([...sent, -1]);
    expect(foreign.heard).toEqual([]);
    expect([one, two].flatMap(({ gaps, errors }) => [...gaps, ...errors])).toEqual([]);
  });

  it('tells the others that they missed something when a notice could not be sent', async () => {
    const [one, two] = [await join(), await join()];
    one.redis.disconnect(true);
    one.bus.publish('test.notice', 1);
    expect(one.heard).toEqual([1]);
    await until('the other one to hear of the gap', () => two.gaps.length > 0);
    expect(two.heard).toEqual([]);
    expect(two.bus.healthy).toBe(true);
    expect(one.errors).not.toEqual([]);
  });

  it('says so when its own subscription was away', async () => {
    const [one, two] = [await join(), await join()];
    await server.ask((redis) => redis.call('client', 'kill', 'type', 'pubsub'));
    await until('a gap in both', () => one.gaps.length > 0 && two.gaps.length > 0);
    await until('both to be well again', () => one.bus.healthy && two.bus.healthy);
    one.bus.publish('test.notice', 7);
    await until('the next notice', () => two.heard.includes(7));
  });

  it('survives what no process of ours has sent', async () => {
    const one = await join();
    for (const nonsense of ['', '{', 'null', '[]', '1', '{"origin":1,"topic":2}']) {
      await server.ask((redis) => redis.publish('parley:test:bus', nonsense));
    }
    await until('all of it to be refused', () => one.errors.length === 6);
    const two = await join();
    two.bus.publish('test.notice', 1);
    await until('the next notice', () => one.heard.includes(1));
  });
});
