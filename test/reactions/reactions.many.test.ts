import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';

/* A popular message: 300 people have reacted, the writer as the last. */

let id: string;
const CROWD = 299;

const board = await openBoard();
afterAll(() => board.close());

beforeAll(async () => {
  await board.turnToNewChannel();
  ({ id } = await board.post({ content: 'popular' }));
  const { query } = board.server.database;
  await query(
    `insert into users (id, name, email, role, profile_image_url, settings, ordinal, last_active_at, created_at, updated_at)
     select gen_random_uuid(), 'Crowd ' || lpad(n::text, 3, '0'), 'crowd' || n || '@example.com', 'user', '/x', '{}',
            1000 + n, 1, 1, 1 from generate_series(1, $1::int) n`,
    [CROWD],
  );
  await query(
    `insert into message_reaction (channel_id, message_id, name, user_id, created_at)
     select $1, $2, '👍', id, 1000 + row_number() over (order by name) from users where name like 'Crowd %'`,
    [board.channelId, id],
  );
  await board.react(id, '👍');
});

interface Group {
  name: string;
  count: number;
  users: { id: string; name: string }[];
}
const crowd = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, n) => `Crowd ${String(from + n).padStart(3, '0')}`);
const namesOf = ({ users }: Group) => users.map(({ name }) => name);

describe('a reaction of 300 people', () => {
  it('shows the first hundred people and the caller, with the whole count, in every read', async () => {
    const read = await board.get(id);
    const found = await board.server.call('GET /channels/messages/search?q=popular', {
      token: board.writer.token,
    });
    for (const message of [read, (await board.list())[0], found.body[0]]) {
      const [group] = message.reactions as [Group];
      expect(group.count).toBe(CROWD + 1);
      expect(namesOf(group)).toEqual([...crowd(1, 100), 'Writer']);
    }
    // The owner has not reacted.
    const others = await board.attempt('GET', `/${id}`, undefined, board.owner);
    expect(namesOf(others.body.reactions[0])).toEqual(crowd(1, 100));
  });

  it('shows each person once', async () => {
    await board.react(id, 'first');
    const { query } = board.server.database;
    await query(
      `insert into message_reaction (channel_id, message_id, name, user_id, created_at)
       select channel_id, message_id, 'first', user_id, created_at + 4e18::bigint
         from message_reaction where message_id = $1 and name = '👍' and user_id <> $2`,
      [id, board.writer.id],
    );
    const group = (await board.get(id)).reactions.find(({ name }: Group) => name === 'first');
    expect(group.count).toBe(CROWD + 1);
    expect(namesOf(group)).toEqual(['Writer', ...crowd(1, 99)]);
  });

  it('shows the actor in its events, which do not grow with the count', async () => {
    await board.react(id, '👍', board.owner);
    await board.unreact(id, '👍', board.owner);
    const [added, removed] = (await board.log()).slice(-2);
    const groupsOf = (event: typeof added) => event?.data.reactions as Group[];
    const countOf = (event: typeof added) => groupsOf(event).find(({ name }) => name === '👍')?.count;
    expect(added).toMatchObject({ type: 'message:reaction:add', actor: { id: board.owner.id } });
    expect(removed).toMatchObject({ type: 'message:reaction:remove', actor: { id: board.owner.id } });
    expect([added?.data.name, countOf(added), countOf(removed)]).toEqual(['👍', CROWD + 2, CROWD + 1]);
    for (const group of groupsOf(added)) expect(group.users).toHaveLength(100);
  });
});
