import { afterAll, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';

/* More messages than a search reads before it decides how to go on. */

const board = await openBoard();
afterAll(() => board.close());
const { server, writer } = board;

/** The words of the messages, oldest first. */
const said = Array.from({ length: 4000 }, (_, n) =>
  [
    'gannet',
    ...(n < 700 ? ['kestrel'] : []),
    ...(n >= 1000 && n % 2 === 0 ? ['osprey'] : []),
    ...(n % 500 === 0 ? ['hoopoe'] : []),
  ].join(' '),
);
const many = await board.turnToNewChannel();
await server.database.query(
  `insert into message (channel_id, id, user_id, content, data, meta, created_at, updated_at)
   select $1, gen_random_uuid(), $2, content, '{}', jsonb_build_object('n', n - 1), 1000 * n, 1000 * n
     from unnest($3::text[]) with ordinality as said (content, n)`,
  [many, writer.id, said],
);

/** The numbers of the messages with all of the words, newest first. */
const holding = (words: string[]) =>
  said.flatMap((text, n) => (words.every((word) => text.includes(word)) ? [n] : [])).toReversed();

const search = (query: Record<string, string>) =>
  server.call(`GET /channels/messages/search?${new URLSearchParams(query)}`, { token: writer.token });
const numbersOf = (body: { meta: { n: number } }[]) => body.map(({ meta }) => meta.n);

// Frequent in all, frequent lately, frequent once, rare, never together: each is found in another way.
it.each([['gannet'], ['osprey'], ['kestrel'], ['hoopoe'], ['gannet', 'hoopoe'], ['kestrel', 'osprey']])(
  'finds the requested page, in the channel and in all: %s',
  async (...words) => {
    const expected = holding(words);
    for (const where of [{ channel_id: many }, {}, { from: writer.id }] as Record<string, string>[]) {
      for (const [skip, limit] of [
        [0, 50],
        [0, 200],
        [7, 3],
        [expected.length - 5, 10],
        [3000, 50],
      ].filter(([from = 0]) => from >= 0) as [number, number][]) {
        const query = { q: words.join(' '), skip: String(skip), limit: String(limit), ...where };
        const { status, body } = await search(query);
        const numbers = body.map(({ meta }: { meta: { n: number } }) => meta.n);
        expect([status, query, numbers]).toEqual([200, query, expected.slice(skip, skip + limit)]);
      }
    }
    const before = { q: words.join(' '), before: String(1000 * 500), limit: '200' };
    const { body } = await search(before);
    const older = expected.filter((n) => n + 1 < 500);
    expect(numbersOf(body)).toEqual(older.slice(0, 200));
  },
);

it('finds messages of a program with the program as author, and not with its owner', async () => {
  const program = '018f0000-0000-7000-8000-00000000000c';
  const found = `update message set author_type = 'webhook', author_id = $1 where channel_id = $2 and content like '%hoopoe%'`;
  await server.database.query(found, [program, many]);
  expect((await search({ q: 'hoopoe', from: program })).body).toHaveLength(8);
  expect((await search({ q: 'hoopoe', from: writer.id })).body).toEqual([]);
});

it('asks for a narrower search past its last page, and when it takes too long', async () => {
  const late = await search({ q: 'gannet', skip: '10001' });
  expect([late.status, late.body.code]).toEqual([422, 'search_too_broad']);
  expect(late.body.detail).toContain('before');
  expect((await search({ q: 'gannet', skip: '10000' })).body).toEqual([]);

  // Another transaction locks the table; a search that waits for it is cancelled like one that runs too long.
  await withClient(server.database.url, async (client) => {
    await client.query('begin');
    await client.query('lock table message in access exclusive mode');
    const answer = search({ q: 'gannet' });
    const cancelled = await until('the search waits', async () => {
      const waiting = await server.database.query<{ is_cancelled: boolean }>(
        `select pg_cancel_backend(pid) as is_cancelled from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like 'with readable%'`,
      );
      return waiting.length > 0 && waiting;
    });
    expect(cancelled).toEqual([{ is_cancelled: true }]);
    const { status, body } = await answer;
    expect([status, body.code]).toEqual([422, 'search_too_broad']);
    expect(body.detail).toContain('Search in one channel');
    await client.query('rollback');
  });
  expect((await search({ q: 'hoopoe', limit: '1' })).body).toHaveLength(1);
});

it('runs four times at once for one person, and leaves connections for others', async () => {
  await withClient(server.database.url, async (client) => {
    await client.query('begin');
    await client.query('lock table message in access exclusive mode');
    const answers = Array.from({ length: 6 }, () => search({ q: 'hoopoe' }));
    const refused = new Set<unknown>();
    for (const answer of answers) {
      void answer.then(({ status, body }) => status === 429 && refused.add(body.detail));
    }
    await until('four to wait', async () => {
      const [row] = await server.database.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like 'with readable%'`,
      );
      return row?.count === 4 && refused.size > 0;
    });
    await client.query('rollback');
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 429, 429]);
    expect([...refused]).toEqual(['At most 4 searches at once. Wait until one of them has ended.']);
  });
  expect((await search({ q: 'hoopoe' })).status).toBe(200);
});
