import { setTimeout as delay } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import { type RedisAddress, readRedisAddress } from '../core/processes/redis.address.ts';
import { StartError } from '../env.ts';

/** One server, the master that sentinels name, or a cluster. */
export type RedisClient = Redis | Cluster;

const PATIENCE_MS = 2_000;
/** How long a start waits for a cluster or sentinels that are just choosing a master. */
const START_PATIENCE_MS = 10_000;
/** A command is sent to another node at most so often, 100 ms apart; then limits are counted in this process. */
const MAX_REDIRECTIONS = 5;

const retryStrategy = (attempt: number) => Math.min(attempt * 100, 1_000);

// Commands are not queued while Redis is away: limits are counted in this process, and lost notices are made up for.
const CONNECTION = {
  maxRetriesPerRequest: 0,
  connectTimeout: PATIENCE_MS,
  commandTimeout: PATIENCE_MS,
  // A socket on which a command waits this long is dead, though it was not closed; a new one is opened.
  socketTimeout: PATIENCE_MS,
};

/**
 * Connects for commands.
 *
 * @param url in a form of `readRedisAddress`
 * @throws StartError when Redis does not answer
 */
export async function connectRedis(url: string, log: Logger): Promise<RedisClient> {
  const address = readRedisAddress(url);
  if (!address) throw new StartError('REDIS_URL is wrong.');
  let isStarting = true;
  const redis = await createClient(address, () => isStarting);
  let trouble: Error | undefined;
  const note = (error: Error) => {
    trouble = error;
  };
  redis.on('error', note);
  redis.on('node error', note);
  try {
    const late = delay(START_PATIENCE_MS, undefined, { ref: false }).then(() => {
      throw new Error('it is not ready');
    });
    await Promise.race([redis.connect().then(() => redis.ping()), late]);
  } catch (error) {
    redis.disconnect();
    const cause = trouble ?? (error as Error & { code?: string });
    const { code = cause.message } = cause as { code?: string };
    throw new StartError(`REDIS_URL cannot be used (${code}). Start Redis, or correct the address.`, {
      cause,
    });
  }
  isStarting = false;
  redis.off('error', note);
  redis.off('node error', note);
  redis.on('error', (error) => log.warn({ err: error }, 'Redis does not answer.'));
  return redis;
}

async function createClient(address: RedisAddress, isStarting: () => boolean): Promise<RedisClient> {
  const { Cluster, Redis } = await import('ioredis');
  const common = { lazyConnect: true, enableOfflineQueue: false };
  if (address.kind === 'server') return new Redis(address.url, { ...common, ...CONNECTION, retryStrategy });
  const { username, password, nodes } = address;
  const tls = address.tls ? {} : undefined;
  const connection = { ...CONNECTION, username, password, tls };
  if (address.kind === 'cluster') {
    return new Cluster(nodes, {
      ...common,
      clusterRetryStrategy: retryStrategy,
      maxRedirections: MAX_REDIRECTIONS,
      slotsRefreshTimeout: PATIENCE_MS,
      // Certificates hold names, which the default resolves to addresses.
      ...(tls && { dnsLookup: (host, found) => found(null, host) }),
      redisOptions: connection,
    });
  }
  return new Redis({
    ...{ ...common, ...connection, retryStrategy, sentinels: nodes, name: address.name, db: address.db },
    ...{
      enableTLSForSentinelMode: address.tls,
      sentinelTLS: tls,
      sentinelPassword: address.sentinelPassword,
    },
    // A start fails at once without sentinels; later they are asked until one answers.
    sentinelRetryStrategy: (attempt) => (isStarting() ? null : retryStrategy(attempt)),
    // A master that became a replica refuses writes: the sentinels know the new one.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
  });
}

/**
 * A connection for the subscription, not yet open. The nodes of a cluster pass notices to each other, so it leads to any of them, and
 * to another one after it was lost.
 */
export function openSubscriber(redis: RedisClient): Redis {
  const options = { lazyConnect: true, autoResubscribe: false };
  if (!redis.isCluster) return (redis as Redis).duplicate(options);
  const cluster = redis as Cluster;
  const pick = () => {
    const masters = cluster.nodes('master');
    return masters[Math.floor(Math.random() * masters.length)];
  };
  const node = pick();
  if (!node) throw new StartError('REDIS_URL cannot be used: the cluster has no node.');
  const subscriber = node.duplicate({
    ...options,
    enableOfflineQueue: false,
    retryStrategy(attempt: number) {
      const { host, port } = pick()?.options ?? subscriber.options;
      // The library reads them for each connection.
      Object.assign(subscriber.options, { host, port });
      return retryStrategy(attempt);
    },
  });
  return subscriber;
}
