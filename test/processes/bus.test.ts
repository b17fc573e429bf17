import { pino } from 'pino';
import { register } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createRedisBus } from '../../src/events/bus.redis.ts';
import { type Bus, createLocalBus } from '../../src/events/bus.ts';
import { connectRedis } from '../../src/events/redis.ts';
import { until } from '../support/poll.ts';
import { startProxy } from '../support/proxy.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';

declare module '../../src/events/bus.ts' {
  interface BusTopics {
    'test.notice': number;
    'test.long': string;
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
  it('hands notices to all of its handlers at once, even when one of them throws', () => {
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

  async function join(prefix = 'parley:test:', url = server.url) {
    const log = pino({ level: 'silent' });
    const redis = await connectRedis(url, log);
    const errors: unknown[] = [];
    const onError = (error: unknown) => errors.push(error);
    const bus = await createRedisBus(redis, { prefix, onError });
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

  it('tells the other processes that they missed something when a notice could not be sent', async () => {
    const [one, two] = [await join(), await join()];
    one.redis.disconnect(true);
    one.bus.publish('test.notice', 1);
    expect(one.heard).toEqual([1]);
    await until('the other one to hear of the gap', () => two.gaps.length > 0);
    expect(two.heard).toEqual([]);
    expect(two.bus.healthy).toBe(true);
    expect(one.errors).not.toEqual([]);
  });

  it('reports that its own subscription was interrupted', async () => {
    const [one, two] = [await join(), await join()];
    await server.ask((redis) => redis.call('client', 'kill', 'type', 'pubsub'));
    await until('a gap in both', () => one.gaps.length > 0 && two.gaps.length > 0);
    await until('both to be well again', () => one.bus.healthy && two.bus.healthy);
    one.bus.publish('test.notice', 7);
    await until('the next notice', () => two.heard.includes(7));
  });

  it('renews connections that hang, reports that meanwhile, and counts notices that were not sent', async () => {
    const proxy = await startProxy({ host: '127.0.0.1', port: Number(new URL(server.url).port) });
    undo.push(() => proxy.close());
    const [one, two] = [await join(undefined, `redis://127.0.0.1:${proxy.port}`), await join()];
    const counted = async () => {
      const metric = await register.getSingleMetric('parley_bus_publish_failures_total')?.get();
      return metric?.values[0]?.value ?? 0;
    };
    const before = await counted();
    proxy.strand();
    one.bus.publish('test.notice', 1);
    await until('it to notice', () => !one.bus.healthy);
    await until('the count', async () => (await counted()) > before);
    await until('it to be well again', () => one.bus.healthy);
    await until('the other one to hear of the gap', () => two.gaps.length > 0);
    one.bus.publish('test.notice', 2);
    two.bus.publish('test.notice', 3);
    await until('both ways to work', () => two.heard.includes(2) && one.heard.includes(3));
  });

  it('delivers a notice once that arrives by two ways, and reads everything again when the second way overflows', async () => {
    const two = await join();
    const redis = await connectRedis(server.url, pino({ level: 'silent' }));
    const sent: string[] = [];
    const also = { topics: ['test.notice', 'test.long'], send: async (text: string) => void sent.push(text) };
    const one = await createRedisBus(redis, { prefix: 'parley:test:', also, onError: () => {} });
    undo.push(async () => {
      await one.close();
      redis.disconnect();
    });
    one.publish('test.notice', 5);
    await until('it by Redis', () => two.heard.length > 0);
    two.bus.hear(sent[0] ?? '');
    expect(two.heard).toEqual([5]);
    one.publish('test.long', 'x'.repeat(8_000));
    expect(Buffer.byteLength(sent[1] ?? '')).toBeLessThan(8_000);
    // Imitates a first way that receives nothing.
    two.bus.hear((sent[1] ?? '').replace(/"id":"[^"]*"/, '"id":"another"'));
    expect(two.gaps).toHaveLength(1);
  });

  it('ignores messages that no process of this server has sent', async () => {
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
