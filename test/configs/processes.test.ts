import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Person, signUp, type TestServer } from '../support/server.ts';
import { administer } from './support.ts';

describe.skipIf(withoutRedis)('the configuration of two processes', () => {
  let pair: Pair;
  let servers: [TestServer, TestServer];
  let root: Person;

  beforeAll(async () => {
    pair = await startPair();
    servers = [pair.here, pair.there];
    root = await signUp(pair.here, 'Root');
  });
  afterAll(() => pair.close());

  const watermarkAt = async (server: TestServer) => (await administer(server, root).exported()).ui.watermark;
  async function follows(from: TestServer, to: TestServer, mark: string): Promise<void> {
    await administer(from, root).configure((configuration) => {
      configuration.ui.watermark = mark;
    });
    expect(await watermarkAt(from)).toBe(mark);
    await until(`"${mark}" on the other process`, async () => (await watermarkAt(to)) === mark);
  }

  it('becomes the same in both soon after a change by either', async () => {
    const [one, other] = servers;
    for (let i = 0; i < 20; i += 1) {
      await follows(one, other, `from one ${i}`);
      await follows(other, one, `from the other ${i}`);
    }
  });

  it('is the same in the end when both change it at once', async () => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        administer(servers[i % 2] as TestServer, root).configure((configuration) => {
          configuration.ui.watermark = `at once ${i}`;
        }),
      ),
    );
    const [row] = await pair.database.query<{ mark: string }>(
      `select data -> 'ui' ->> 'watermark' as mark from config`,
    );
    for (const server of servers) {
      await until('the last one', async () => (await watermarkAt(server)) === row?.mark);
    }
  });

  it('is the same while Redis is down', async () => {
    await pair.redis.kill();
    await follows(servers[0], servers[1], 'without Redis');
    await pair.redis.restart();
  });

  it('is the same again after the database connections were cut', async () => {
    await pair.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and query = 'listen parley_notices'`,
    );
    await administer(servers[0], root).configure((configuration) => {
      configuration.ui.watermark = 'after the cut';
    });
    await until('the change', async () => (await watermarkAt(servers[1])) === 'after the cut');
  });
});
