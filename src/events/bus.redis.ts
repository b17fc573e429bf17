import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import { z } from 'zod';
import { type Bus, LocalDelivery } from './bus.ts';

const Notice = z.object({
  /** The process that sent it; absent for programs that are no server. */
  origin: z.string().optional(),
  /** Of a notice that goes two ways. */
  id: z.string().optional(),
  topic: z.string(),
  message: z.unknown(),
});
type Notice = z.infer<typeof Notice>;

/** Tells the other processes that a notice for them was lost on the way. Not a topic: nouns hear of it by `onGap`. */
const GAP = 'gap';
/** How many notices that come two ways are remembered, so that each is heard once. */
const MAX_HEARD = 1_000;
/** The most that the second way takes, in bytes: what PostgreSQL does. */
const ALSO_BYTES = 7_900;
/** How often the connections are tried, and how often everything is looked up anew while it is broken. */
const BEAT_MS = 1_000;

const failures = new Counter({
  name: 'parley_bus_publish_failures_total',
  help: 'Notices to other processes that Redis did not take',
});

export interface RedisBusOptions {
  /** Begins every key and channel, so that installations may share one Redis. */
  prefix: string;
  /** Another way to the other processes, for notices of some topics; they hand what comes by it to `hear`. */
  also?: { topics: readonly string[]; send(text: string): Promise<unknown> };
  onError(error: unknown): void;
}

/**
 * The bus of several processes, over one Redis publish/subscribe channel. While Redis cannot be heard, `onGap` calls back
 * every second: what depends on notices goes on, by asking the database.
 *
 * @param redis a connection for commands; a second one is opened from it for the subscription
 */
export async function createRedisBus(redis: Redis, options: RedisBusOptions): Promise<Bus> {
  const { prefix, also, onError } = options;
  const channel = `${prefix}bus`;
  const origin = randomUUID();
  const local = new LocalDelivery(onError);
  const gapHandlers = new Set<() => void>();
  const subscriber = redis.duplicate({ lazyConnect: true, autoResubscribe: false });
  const heard = new LRUCache<string, true>({ max: MAX_HEARD });
  const underWay = new Set<Promise<unknown>>();
  let subscribed = false;
  let lost = false;
  /** Whether both connections answered when they were last asked: one can be dead without having been closed. */
  const answers = { redis: true, subscriber: true };

  const isHealthy = () => subscribed && redis.status === 'ready' && answers.redis && answers.subscriber;
  const lookAnew = () => {
    for (const handler of gapHandlers) handler();
  };
  const send = async (notice: Notice) => {
    try {
      await redis.publish(channel, JSON.stringify(notice));
    } catch (error) {
      lost = true;
      answers.redis = false;
      failures.inc();
      onError(error);
    }
  };
  /** Where there is no room for what has changed, the others are told that something has. */
  const sendAlso = (notice: Notice) => {
    const text = JSON.stringify(notice);
    const fits = Buffer.byteLength(text) <= ALSO_BYTES;
    const sent = also?.send(fits ? text : JSON.stringify({ ...notice, topic: GAP, message: null }));
    const settled = Promise.resolve(sent)
      .catch(onError)
      .finally(() => underWay.delete(settled));
    underWay.add(settled);
  };
  /** The others could not know that they missed something: this process says so as soon as it can. */
  const confess = () => {
    if (!lost) return;
    lost = false;
    void send({ origin, topic: GAP, message: null });
  };

  async function listen(): Promise<void> {
    await subscriber.subscribe(channel);
    subscribed = true;
    answers.subscriber = true;
    lookAnew();
  }

  function hear(body: string): void {
    const notice = Notice.safeParse(parseJson(body));
    if (!notice.success) {
      onError(notice.error);
      return;
    }
    const { origin: from, id, topic, message } = notice.data;
    if (from === origin || (id !== undefined && heard.has(id))) return;
    if (id !== undefined) heard.set(id, true);
    if (topic === GAP) lookAnew();
    else local.deliver(topic, message);
  }

  subscriber.on('error', onError);
  subscriber.on('close', () => {
    subscribed = false;
  });
  subscriber.on('message', (_channel: string, body: string) => hear(body));
  await subscriber.connect();
  await listen();
  // What was published while the connection was away is gone, so each new one begins with a look at everything.
  subscriber.on('ready', () => void listen().catch(onError));
  redis.on('ready', confess);

  const asked = { redis: false, subscriber: false };
  /** A connection that does not answer in time is renewed by its `socketTimeout`. */
  async function ask(which: 'redis' | 'subscriber'): Promise<void> {
    const connection = which === 'redis' ? redis : subscriber;
    if (asked[which] || connection.status !== 'ready') return;
    asked[which] = true;
    answers[which] = await connection.ping().then(
      () => true,
      () => false,
    );
    asked[which] = false;
  }

  const beat = setInterval(() => {
    void ask('redis');
    void ask('subscriber');
    if (isHealthy()) return confess();
    // No event comes for an open connection whose subscription was refused.
    if (subscriber.status === 'ready' && !subscribed) void listen().catch(onError);
    lookAnew();
  }, BEAT_MS).unref();

  return {
    shared: true,
    get healthy() {
      return isHealthy();
    },
    publish(topic, message) {
      local.deliver(topic, message);
      const goesTwoWays = also?.topics.includes(topic);
      const notice = { origin, ...(goesTwoWays && { id: randomUUID() }), topic, message };
      void send(notice);
      if (goesTwoWays) sendAlso(notice);
    },
    hear,
    announce: (topic, message) => local.deliver(topic, message),
    subscribe: (topic, handler) => local.subscribe(topic, handler),
    onGap(handler) {
      gapHandlers.add(handler);
      return () => gapHandlers.delete(handler);
    },
    async close() {
      clearInterval(beat);
      await Promise.all(underWay);
      redis.off('ready', confess);
      gapHandlers.clear();
      subscriber.disconnect();
    },
  };
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
