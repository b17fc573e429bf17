import type { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { StartError } from '../env.ts';

const PATIENCE_MS = 2_000;

/**
 * Connects for commands.
 *
 * @throws StartError when Redis does not answer
 */
export async function connectRedis(url: string, log: Logger): Promise<Redis> {
  const { Redis } = await import('ioredis');
  // Commands are not queued while Redis is away: limits are counted in this process, and lost notices are made up for.
  const redis = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: PATIENCE_MS,
    commandTimeout: PATIENCE_MS,
    // A socket on which a command waits this long is dead, though it was not closed; a new one is opened.
    socketTimeout: PATIENCE_MS,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1_000),
  });
  let trouble: Error | undefined;
  const note = (error: Error) => {
    trouble = error;
  };
  redis.on('error', note);
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    redis.disconnect();
    const cause = trouble ?? (error as Error & { code?: string });
    const { code = cause.message } = cause as { code?: string };
    throw new StartError(`REDIS_URL cannot be used (${code}). Start Redis, or correct the address.`, {
      cause,
    });
  }
  redis.off('error', note);
  redis.on('error', (error) => log.warn({ err: error }, 'Redis does not answer.'));
  return redis;
}
