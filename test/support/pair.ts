import type { Python } from '../../src/python/pool.ts';
import { createDatabase, type TestDatabase } from './database.ts';
import { startRedis, type TestRedis } from './redis.ts';
import { startServer, type TestServer } from './server.ts';

/** Two servers on one database and one Redis. */
export interface Pair {
  here: TestServer;
  there: TestServer;
  database: TestDatabase;
  redis: TestRedis;
  /** The database and the environment of both, to start a third one. */
  env: Record<string, string>;
  close(): Promise<void>;
}

export interface PairOptions {
  env?: Record<string, string>;
  python?: Python;
}

/** Starts both on an empty installation. `mains.test.ts` starts processes at the same moment. */
export async function startPair({ env: more, ...options }: PairOptions = {}): Promise<Pair> {
  const redis = await startRedis();
  const database = await createDatabase();
  // Some tests stop and start Redis, which logs a warning each time.
  const secret = { SECRET_KEY: 'a secret that both processes have got', LOG_LEVEL: 'silent' };
  const env = { REDIS_URL: redis.url, ...secret, ...more };
  const start = () => startServer({ database, env, ...options });
  // One after the other: both run in this process, so computations of one would keep the other from seeing in
  // time that Redis answers.
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
