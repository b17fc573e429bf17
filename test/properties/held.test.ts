import { afterAll, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { listenBySocket } from '../events/listen.ts';
import { withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';

/* Bugs that the properties found; each test forces the critical moment. */

const board = await openBoard();
afterAll(() => board.close());

it('a member who is removed from a channel receives nothing from the removal on', async () => {
  const { server, owner, writer } = board;
  const body = { name: 'group', type: 'group', user_ids: [writer.id] };
  const { id } = (await server.call('POST /channels/create', { token: owner.token, body })).body;
  const auth = { events: 'envelope', last_event_ids: { [id]: 0 } };
  const [stays, goes] = await Promise.all([
    listenBySocket(server.url, owner.token, { auth }),
    listenBySocket(server.url, writer.token, { auth }),
  ]);
  await until('both to be in', () => stays.enveloped.length === 1 && goes.enveloped.length === 1);
  const removal = { token: owner.token, body: { user_ids: [writer.id] } };
  await server.call(`POST /channels/${id}/update/members/remove`, removal);
  const post = { token: owner.token, body: { content: 'among us' } };
  await server.call(`POST /channels/${id}/messages/post`, post);
  await until('the others to hear both', () => stays.enveloped.length === 3);
  // Presence is sent too, half a second after the arrival, and that the rights changed.
  const noticesOf = ({ notices }: typeof goes) =>
    notices.filter(({ data }) => !['presence', 'access:updated'].includes(data.type));
  await until('the notice of it', () => noticesOf(goes).length > 0);
  expect(goes.enveloped).toHaveLength(1);
  await server.call(`POST /channels/${id}/update/members/add`, removal);
  await until('to be back', () => goes.enveloped.length >= 4);
  stays.close();
  goes.close();
  // The missed events arrive when the member is back.
  expect(goes.enveloped.map(({ event_id }) => event_id)).toEqual([1, 2, 3, 4]);
  expect(noticesOf(goes).map(({ data }) => data.type)).toEqual(['channel:member:remove']);
});

const waiting = async () => {
  const [row] = await board.server.database.query<{ count: number }>(
    `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return row?.count ?? 0;
};

it.each([
  ['another post', async () => {}],
  ['a post into another channel', async (channelId: string) => {
    await board.turnToNewChannel();
    await board.post({ content: 'elsewhere' });
    board.turnTo(channelId);
  }],
])('the event of a reply includes the reaction that it had to wait for, beside %s', async (_what, meanwhile) => {
  const channelId = await board.turnToNewChannel();
  const root = await board.post({ content: 'root' });
  const { reply } = await withClient(board.server.database.url, async (client) => {
    await client.query('begin');
    const tick = 'update channel set last_event = last_event + 1 where id = $1';
    await client.query(tick, [channelId]);
    const reply = board.post({ content: 'reply', parent_id: root.id, temp_id: 'once' });
    const other = board.post({ content: 'not a reply' });
    await until('the posts to wait', waiting);
    await meanwhile(channelId);
    await client.query(
      `insert into message_reaction (channel_id, message_id, name, user_id, created_at) values ($1, $2, 'wave', $3, 1)`,
      [channelId, root.id, board.owner.id],
    );
    await client.query(
      `insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
       select channel_id, 3, 'message:reaction:add', message_id, actor, data, created_at
         from channel_event where channel_id = $1 and message_id = $2`,
      [channelId, root.id],
    );
    await client.query('commit');
    return { reply: await reply, other: await other };
  });
  const log = await board.log();
  expect(log.map(({ type }) => type).toSorted()).toEqual(
    ['message', 'message', 'message', 'message:reaction:add', 'message:reply'],
  );
  expect(log.filter(({ message_id }) => message_id === reply.id)).toHaveLength(1);
  const told = log.find(({ type }) => type === 'message:reply');
  expect(told?.data.reactions).toEqual((await board.get(root.id)).reactions);
  expect(told?.data).toMatchObject({ reactions: [{ name: 'wave', count: 1 }], reply_count: 1 });
}); // biome-ignore format: one case a line
