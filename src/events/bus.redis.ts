import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { type Bus, LocalDelivery } from './bus.ts';

const Notice = z.object({ origin: z.string(), topic: z.string(), message: z.unknown() });
type Notice = z.infer<typeof Notice>;

/** Tells the other processes that a notice for them was lost on the way. Not a topic: nouns hear of it by `onGap`. */
const GAP = 'gap';
/** How often the connection is tried, and how often everything is looked up anew while it is broken. */
const BEAT_MS = 1_000;

/**
 * The bus of several processes, over one Redis publish/subscribe channel. While Redis cannot be heard, `onGap` calls back
 * every second: what depends on notices goes on, by asking the database.
 *
 * @param redis    a connection for commands; a second one is opened from it for the subscription
 * @param prefix   begins every key and channel, so that installations may share one Redis
 */
export async function createRedisBus(
  redis: Redis,
  prefix: string,
  onError: (error: unknown) => void,
): Promise<Bus> {
  const channel = `${prefix}bus`;
  const origin = randomUUID();
  const local = new LocalDelivery(onError);
  const gapHandlers = new Set<() => void>();
  const subscriber = redis.duplicate({ lazyConnect: true, autoResubscribe: false });
  let subscribed = false;
  let lost = false;

  const isHealthy = () => subscribed && redis.status === 'ready';
  const lookAnew = () => {
    for (const handler of gapHandlers) handler();
  };
  const send = async (topic: string, message: unknown) => {
    try {
      await redis.publish(channel, JSON.stringify({ origin, topic, message } satisfies Notice));
    } catch (error) {
      lost = true;
      onError(error);
    }
  };
  /** The others could not know that they missed something: this process says so as soon as it can. */
  const confess = () => {
    if (!lost) return;
    lost = false;
    void send(GAP, null);
  };

  async function listen(): Promise<void> {
    await subscriber.subscribe(channel);
    subscribed = true;
    lookAnew();
  }

  function hear(body: string): void {
    const notice = Notice.safeParse(parseJson(body));
    if (!notice.success) {
      onError(notice.error);
      return;
    }
    const { origin: from, topic, message } = notice.data;
    if (from === origin) return;
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

  const beat = setInterval(() => {
    if (!isHealthy()) {
      // A connection that stands but was refused the channel is not told again by anybody.
      if (subscriber.status === 'ready' && !subscribed) void listen().catch(onError);
      lookAnew();
      return;
    }
    // A connection can be dead without having been closed: a host that vanished, a Redis that hangs.
    subscriber.ping().catch(() => subscriber.disconnect(true));
    confess();
  }, BEAT_MS).unref();

  return {
    shared: true,
    get healthy() {
      return isHealthy();
    },
    publish(topic, message) {
      local.deliver(topic, message);
      void send(topic, message);
    },
    announce: (topic, message) => local.deliver(topic, message),
    subscribe: (topic, handler) => local.subscribe(topic, handler),
    onGap(handler) {
      gapHandlers.add(handler);
      return () => gapHandlers.delete(handler);
    },
    async close() {
      clearInterval(beat);
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
