import { afterAll, expect, it } from 'vitest';
import { plannedAnew } from '../../src/database/sql.ts';
import { transaction } from '../../src/database/transaction.ts';
import { makeChannel } from '../support/channels.ts';
import { until } from '../support/poll.ts';
import { signUpAll, startServer } from '../support/server.ts';
import { listenBySocketIo, listenByTrpc } from '../support/sockets.ts';
import { openDoor } from './door.ts';

const server = await startServer();
const [owner] = await signUpAll(server, 'Owner');
const door = await openDoor(server);
afterAll(async () => {
  await door.close();
  await server.close();
});

/** Takes all connections to the database until the returned function gives them back. */
async function takeAllConnections(): Promise<() => Promise<void>> {
  const { promise: held, resolve: giveBack } = Promise.withResolvers<void>();
  let taken = 0;
  const transactions = Array.from({ length: 20 }, () =>
    transaction(door.parts, async (sql) => {
      // PostgreSQL ends idle transactions after a time, which a slow machine may need.
      await sql.rows(plannedAnew('set local idle_in_transaction_session_timeout = 0'));
      taken += 1;
      await held;
    }),
  );
  await until('all connections to be taken', () => taken === transactions.length);
  return async () => {
    giveBack();
    await Promise.all(transactions);
  };
}

it('a subscriber whose rights cannot be checked in time is disconnected, but does not lose its channels', async () => {
  const channelId = await makeChannel(server, owner);
  const byTrpc = await listenByTrpc(door.url, owner.token);
  const bySocketIo = await listenBySocketIo(door.url, owner.token);
  await until('both to follow', () => door.hub.size > 0);
  const giveBack = await takeAllConnections();
  // This makes the server check rights again; the sessions stay cached.
  door.bus.announce('config.changed', { revision: 1 });
  await until('both to be sent away', () => byTrpc.ended && bySocketIo.ended);
  expect([byTrpc.ended, bySocketIo.ended]).toEqual(['unavailable', 'transport close']);
  await giveBack();

  const back = [await listenByTrpc(door.url, owner.token), await listenBySocketIo(door.url, owner.token)];
  const post = () => server.as(owner)(`POST /channels/${channelId}/messages/post`, { content: 'here again' });
  await until('both to hear', async () => {
    await post();
    door.tellGap();
    return back.every(({ events }) => events.some(({ content }) => content === 'here again'));
  });
  for (const listener of [byTrpc, bySocketIo, ...back]) listener.close();
});
