import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { follow, LOSSES, requireEverything } from './ending.ts';
import { type Servers, startServers } from './servers.ts';
import { gatherPlayers, makeChannels, type Player } from './stage.ts';
import { play, scripts } from './steps.ts';

/*
 * The server is killed in the middle of writes and started again: answered writes are stored, unanswered
 * writes are stored whole or not at all, and all listeners continue.
 */

let database: TestDatabase;
let servers: Servers;
let players: Player[];
let round = 0;

beforeAll(async () => {
  database = await createDatabase();
  servers = await startServers(1, database);
  players = await gatherPlayers((await servers.where(0)).url, database);
});
afterAll(async () => {
  await servers.close();
  await database.drop();
});

it('a crash loses nothing, tears nothing and adds nothing', { timeout: 600_000 }, async () => {
  const plan = fc.record({
    scripts: scripts(5, { min: 15, max: 30 }),
    losses: LOSSES,
    /** The numbers of answers after which the server is killed. */
    kills: fc.uniqueArray(fc.integer({ min: 10, max: 60 }), { minLength: 2, maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ scripts: written, losses, kills }) => {
      const { url } = await servers.where(0);
      const channelIds = await makeChannels(url, players, round++);
      const { where, isPlace } = servers;
      const readers = await follow({ url, database, players, channelIds, losses, where, isPlace });

      let answers = 0;
      let crashes = Promise.resolve();
      let isOver = false;
      let wasCut = false;
      const crash = async () => {
        // Calls are running at that moment, so the answer of each may be on its way.
        await withClient(database.url, async (client) => {
          await client.query('begin');
          await client.query('lock table channel_event in exclusive mode');
          await until('a writer to wait', async () => {
            const [row] = await database.query<{ waiting: boolean }>(
              `select count(*) > 0 as waiting from pg_stat_activity
                where datname = current_database() and wait_event_type = 'Lock'`,
            );
            wasCut ||= row?.waiting ?? false;
            return row?.waiting || isOver;
          });
          await servers.kill(0);
        });
        await servers.start(0);
      };
      const onEntry = () => {
        answers += 1;
        if (kills.includes(answers)) crashes = crashes.then(crash);
      };
      const scene = { players, channelIds, where: async () => (await where(0)).url };
      const journal = await play(scene, written, onEntry);
      isOver = true;
      await crashes;
      for (const { outcome } of journal) expect(outcome.status).toBeLessThan(500);
      if (wasCut) expect(journal.some(({ outcome }) => outcome.status === 0)).toBe(true);
      await requireEverything({ url, database, players, channelIds, journal, readers });
    }),
    // Each run kills and starts the server twice.
    { numRuns: 1, endOnFailure: true },
  );
});
