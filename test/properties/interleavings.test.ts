import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { startServer } from '../support/server.ts';
import { follow, LOSSES, requireEverything } from './ending.ts';
import { gatherPlayers, makeChannels } from './stage.ts';
import { play, scripts } from './steps.ts';

/*
 * Several people act at the same time through both doors. In the end, each reader of a channel has the same
 * state of it as the database, and has received nothing else.
 */

let round = 0;

const server = await startServer();
afterAll(() => server.close());
const players = await gatherPlayers(server.url, server.database);

it('every reader ends with the state of the database', { timeout: 600_000 }, async () => {
  const plan = fc.record({ scripts: scripts(5, { min: 15, max: 40 }), losses: LOSSES });
  await fc.assert(
    fc.asyncProperty(plan, async ({ scripts: written, losses }) => {
      const { url, database } = server;
      const channelIds = await makeChannels(url, players, round++);
      const place = { url, life: 0 };
      const places = { where: async () => place, isPlace: () => true };
      const readers = await follow({ url, database, players, channelIds, losses, ...places });
      const scene = { players, channelIds, where: async () => url };
      const journal = await play(scene, written);
      for (const { outcome } of journal)
        expect(outcome.status).toSatisfy((status) => status > 0 && status < 500);
      await requireEverything({ url, database, players, channelIds, journal, readers });
    }),
    { numRuns: 2, endOnFailure: true },
  );
});
