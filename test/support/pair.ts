import type { Python } from '../../src/python/pool.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { startServer, type TestServer } from './server.ts';

/** Two servers on one database and one Redis: what happens at one is true at the other. */
export interface Pair {
  here: TestServer;
  there: TestServer;
  database: TestDatabase;
  redis: TestRedis;
  /** What both were started with, for a third. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export interface PairOptions {
  env?: Record<string, string>;
  python?: Python;
}

/** Starts both, on an empty installation. `mains.test.ts` starts processes at the same moment. */
export async function startPair({ env: more, ...options }: PairOptions = {}): Promise<Pair> {
  const redis = await startRedis();
  const database = await createDatabase();
  // Redis goes and comes back in some tests, which is worth a warning each time.
  const secret = { SECRET_KEY: 'a secret that both processes have got', LOG_LEVEL: 'silent' };
  const env = { REDIS_URL: redis.url, ...secret, ...more };
  const start = () => startServer({ database, env, ...options });
  // One after the other: what one of them computes would keep the other, in the same process, from seeing that Redis answers in time.
  const here = await start();
  const there = await start();
  return {
    here,
    there,
    database,
    redis,
    env,
    async close() {
      await here.close();
      await there.close();
      await database.drop();
      await redis.stop();
    },
  };
}
