import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';
import { follow, LOSSES, requireEverything } from './ending.ts';
import { type Servers, startServers } from './servers.ts';
import { gatherPlayers, makeChannels, type Player } from './stage.ts';
import { play, scripts } from './steps.ts';

/*
 * Two processes share the work, and one of them is killed: its writers and listeners continue at the other,
 * without a difference.
 */
describe.skipIf(withoutRedis)('two processes', () => {
  let redis: TestRedis;
  let database: TestDatabase;
  let servers: Servers;
  let players: Player[];
  let round = 0;

  beforeAll(async () => {
    redis = await startRedis();
    database = await createDatabase();
    servers = await startServers(2, database, { REDIS_URL: redis.url });
    players = await gatherPlayers((await servers.where(0)).url, database);
  });
  afterAll(async () => {
    await servers.close();
    await database.drop();
    await redis.stop();
  });

  it('behave as one, also when one of them is killed', { timeout: 600_000 }, async () => {
    const plan = fc.record({
      scripts: scripts(5, { min: 15, max: 30 }),
      losses: LOSSES,
      killed: fc.nat(1),
      /** The number of answers before the kill. */
      when: fc.integer({ min: 10, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(plan, async ({ scripts: written, losses, killed, when }) => {
        await Promise.all([servers.start(0), servers.start(1)]);
        const { url } = await servers.where(1 - killed);
        const channelIds = await makeChannels(url, players, round++);
        const { where, isPlace } = servers;
        const readers = await follow({ url, database, players, channelIds, losses, where, isPlace });

        let answers = 0;
        let crash = Promise.resolve();
        const onEntry = () => {
          answers += 1;
          if (answers === when) crash = servers.kill(killed);
        };
        const at = async (player: Player) => (await where(players.indexOf(player))).url;
        const journal = await play({ players, channelIds, where: at }, written, onEntry);
        await crash;
        for (const { outcome } of journal) expect(outcome.status).toBeLessThan(500);
        await requireEverything({ url, database, players, channelIds, journal, readers });
      }),
      { numRuns: 2, endOnFailure: true },
    );
  });
});
