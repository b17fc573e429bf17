import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { type Bus, LocalDelivery } from './bus.ts';

interface Notice {
  origin: string;
  topic: string;
  message: unknown;
}

/**
 * The bus of several processes, over one Redis publish/subscribe channel.
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
  const subscriber = redis.duplicate();
  let subscribed = false;

  subscriber.on('error', onError);
  subscriber.on('close', () => {
    subscribed = false;
  });
  subscriber.on('ready', () => {
    // ioredis subscribes again by itself; what was published in between is gone.
    subscriber.subscribe(channel).then(() => {
      subscribed = true;
      for (const handler of gapHandlers) handler();
    }, onError);
  });
  subscriber.on('message', (_channel: string, body: string) => {
    const notice = JSON.parse(body) as Notice;
    if (notice.origin !== origin) local.deliver(notice.topic, notice.message);
  });
  await subscriber.subscribe(channel);
  subscribed = true;

  return {
    shared: true,
    get healthy() {
      return subscribed && redis.status === 'ready';
    },
    publish(topic, message) {
      local.deliver(topic, message);
      redis.publish(channel, JSON.stringify({ origin, topic, message } satisfies Notice)).catch(onError);
    },
    subscribe: (topic, handler) => local.subscribe(topic, handler),
    onGap(handler) {
      gapHandlers.add(handler);
      return () => gapHandlers.delete(handler);
    },
    async close() {
      subscriber.disconnect();
    },
  };
}
