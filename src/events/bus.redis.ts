import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { LRUCache } from 'lru-cache';
import { Counter } from 'prom-client';
import { z } from 'zod';
import { type Bus, type BusTopics, type Handler, LocalDelivery, type Topic } from './bus.ts';
import { openSubscriber, type RedisClient } from './redis.ts';

const Notice = z.object({
  /** The process that sent it; absent for a command of the shell. */
  origin: z.string().optional(),
  /** Set for notices that go two ways. */
  id: z.string().optional(),
  topic: z.string(),
  message: z.unknown(),
});
type Notice = z.infer<typeof Notice>;

/** Tells the other processes that a notice for them was lost. Not a topic: nouns get it through `onGap`. */
const GAP = 'gap';
/** How many notices that come two ways are remembered, so that each is delivered once. */
const MAX_HEARD = 1_000;
/** The most bytes that the second way takes, as PostgreSQL limits a notification. */
const ALSO_BYTES = 7_900;
/** Interval of the check of the connections, and of `onGap` while one is broken. */
const BEAT_MS = 1_000;

const failures = new Counter({
  name: 'parley_bus_publish_failures_total',
  help: 'Notices to other processes that Redis did not take',
});

export interface RedisBusOptions {
  /** Stands before every key and channel, so that installations may share one Redis. */
  prefix: string;
  /** A second way to the other processes, for notices of some topics; the receivers pass its texts to `hear`. */
  also?: { topics: readonly string[]; send(text: string): Promise<unknown> };
  onError(error: unknown): void;
}

/**
 * The bus of several processes, over one Redis publish/subscribe channel. While Redis cannot be heard, `onGap` calls back
 * every second, so that code which depends on notices reads the database instead.
 *
 * @param redis a connection for commands; a second one is opened from it for the subscription
 */
export async function createRedisBus(redis: RedisClient, options: RedisBusOptions): Promise<Bus> {
  const bus = new RedisBus(redis, options);
  await bus.open();
  return bus;
}

/** A connection to Redis. It can be dead without having been closed, so it is asked. */
class Connection<Client extends RedisClient> {
  readonly redis: Client;
  /** Whether it answered when it was last asked. */
  answers = true;
  #isAsked = false;

  constructor(redis: Client) {
    this.redis = redis;
  }

  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  /** A connection that does not answer in time is renewed by its `socketTimeout`. */
  async ask(): Promise<void> {
    if (this.#isAsked || !this.isReady) return;
    this.#isAsked = true;
    this.answers = await this.redis.ping().then(
      () => true,
      () => false,
    );
    this.#isAsked = false;
  }
}

class RedisBus implements Bus {
  readonly shared = true;
  readonly #channel: string;
  readonly #also: RedisBusOptions['also'];
  readonly #onError: (error: unknown) => void;
  /** Names this process in its notices. */
  readonly #origin = randomUUID();
  readonly #commands: Connection<RedisClient>;
  readonly #subscriber: Connection<Redis>;
  readonly #local: LocalDelivery;
  readonly #gapHandlers = new Set<() => void>();
  /** The ids of notices that came, of topics that go two ways. */
  readonly #heard = new LRUCache<string, true>({ max: MAX_HEARD });
  /** Notices that are being sent the second way. */
  readonly #underWay = new Set<Promise<unknown>>();
  #isSubscribed = false;
  /** Whether a notice was lost since the other processes were last told of a gap. */
  #hasLost = false;
  #beating: NodeJS.Timeout | undefined;

  constructor(redis: RedisClient, { prefix, also, onError }: RedisBusOptions) {
    this.#channel = `${prefix}bus`;
    this.#also = also;
    this.#onError = onError;
    this.#commands = new Connection(redis);
    this.#subscriber = new Connection(openSubscriber(redis));
    this.#local = new LocalDelivery(onError);
  }

  get healthy(): boolean {
    return this.#isSubscribed && this.#commands.isReady && this.#commands.answers && this.#subscriber.answers;
  }

  async open(): Promise<void> {
    const { redis } = this.#subscriber;
    redis.on('error', this.#onError);
    redis.on('close', () => {
      this.#isSubscribed = false;
    });
    redis.on('message', (_channel: string, body: string) => this.hear(body));
    await redis.connect();
    await this.#subscribe();
    // Notices that were published while the connection was away are lost, so each new connection reports a gap.
    redis.on('ready', () => this.#subscribeAgain());
    this.#commands.redis.on('ready', this.#confess);
    this.#beating = setInterval(() => this.#beat(), BEAT_MS).unref();
  }

  publish<T extends Topic>(topic: T, message: BusTopics[T]): void {
    void this.tell(topic, message);
  }

  tell<T extends Topic>(topic: T, message: BusTopics[T]): Promise<void> {
    this.#local.deliver(topic, message);
    const goesTwoWays = this.#also?.topics.includes(topic);
    const notice = { origin: this.#origin, ...(goesTwoWays && { id: randomUUID() }), topic, message };
    const sent = this.#send(notice);
    // A Redis that hangs must not hold up the caller.
    return goesTwoWays ? this.#sendAlso(notice) : sent;
  }

  announce<T extends Topic>(topic: T, message: BusTopics[T]): void {
    this.#local.deliver(topic, message);
  }

  hear(text: string): void {
    const notice = Notice.safeParse(parseJson(text));
    if (!notice.success) {
      this.#onError(notice.error);
      return;
    }
    const { origin, id, topic, message } = notice.data;
    if (origin === this.#origin || (id !== undefined && this.#heard.has(id))) return;
    if (id !== undefined) this.#heard.set(id, true);
    if (topic === GAP) this.#lookAnew();
    else this.#local.deliver(topic, message);
  }

  subscribe<T extends Topic>(topic: T, handler: Handler<T>): () => void {
    return this.#local.subscribe(topic, handler);
  }

  onGap(handler: () => void): () => void {
    this.#gapHandlers.add(handler);
    return () => this.#gapHandlers.delete(handler);
  }

  async close(): Promise<void> {
    clearInterval(this.#beating);
    await Promise.all(this.#underWay);
    this.#commands.redis.off('ready', this.#confess);
    this.#gapHandlers.clear();
    this.#subscriber.redis.disconnect();
  }

  async #subscribe(): Promise<void> {
    await this.#subscriber.redis.subscribe(this.#channel);
    this.#isSubscribed = true;
    this.#subscriber.answers = true;
    this.#lookAnew();
  }

  #subscribeAgain(): void {
    this.#subscribe().catch(this.#onError);
  }

  async #send(notice: Notice): Promise<void> {
    try {
      await this.#commands.redis.publish(this.#channel, JSON.stringify(notice));
    } catch (error) {
      this.#hasLost = true;
      this.#commands.answers = false;
      failures.inc();
      this.#onError(error);
    }
  }

  /** A notice that is too long for the second way becomes a gap: the other processes look everything up. */
  #sendAlso(notice: Notice): Promise<void> {
    const text = JSON.stringify(notice);
    const fits = Buffer.byteLength(text) <= ALSO_BYTES;
    const sent = this.#also?.send(fits ? text : JSON.stringify({ ...notice, topic: GAP, message: null }));
    const settled = Promise.resolve(sent)
      .then(() => {}, this.#onError)
      .finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
    return settled;
  }

  #lookAnew(): void {
    for (const handler of this.#gapHandlers) handler();
  }

  /** The other processes cannot know that they missed a notice: this process tells them as soon as it can. */
  readonly #confess = (): void => {
    if (!this.#hasLost) return;
    this.#hasLost = false;
    void this.#send({ origin: this.#origin, topic: GAP, message: null });
  };

  #beat(): void {
    void this.#commands.ask();
    void this.#subscriber.ask();
    if (this.healthy) {
      this.#confess();
      return;
    }
    // No event comes for an open connection whose subscription was refused.
    if (this.#subscriber.isReady && !this.#isSubscribed) this.#subscribeAgain();
    this.#lookAnew();
  }
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
