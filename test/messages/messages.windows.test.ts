import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { NOWHERE } from '../support/doors.ts';
import { signUpAs } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

/* Ten messages of the main line, `0` to `9`; `4` has the replies `a` to `d`. */

const board = await openBoard();
afterAll(() => board.close());
const ids: Record<string, string> = {};
const times: Record<string, number> = {};
beforeAll(async () => {
  await board.turnToNewChannel();
  for (const content of [...'01234abcd56789']) {
    const parent_id = /[a-d]/.test(content) ? ids['4'] : undefined;
    const { id, created_at } = await board.post({ content, parent_id });
    ids[content] = id;
    times[content] = created_at;
  }
});

interface Place {
  before?: string;
  after?: string;
  around?: string;
  at?: number;
  limit?: number;
  skip?: number;
}

type Answered = { content: string }[];
const contents = (messages: Answered) => messages.map(({ content }) => content).join('');
const queryOf = (place: Place): string =>
  Object.entries(place)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');

/** The same window at two doors. */
const DOORS: Record<string, (place: Place) => Promise<string>> = {
  REST: async (place) => contents(await board.list(`?${queryOf(place)}`)),
  async tRPC(place) {
    const input = encodeURIComponent(JSON.stringify({ id: board.channelId, ...place }));
    const answer = await fetch(`${board.server.url}/trpc/messages.list?input=${input}`, {
      headers: { authorization: `Bearer ${board.writer.token}` },
    });
    const { result } = (await answer.json()) as { result: { data: Answered } };
    return contents(result.data);
  },
};

describe.each(Object.entries(DOORS))('through %s', (_door, windowAt) => {
  it.each<[string, () => Place, string]>([
    ['the newest below a message', () => ({ before: ids['5'], limit: 3 }), '432'],
    ['the oldest above a message', () => ({ after: ids['5'], limit: 3 }), '876'],
    ['half on each side of a message', () => ({ around: ids['5'], limit: 4 }), '7654'],
    ['the larger half with the message', () => ({ around: ids['5'], limit: 3 }), '654'],
    ['a message alone', () => ({ around: ids['5'], limit: 1 }), '5'],
    ['one side at an end', () => ({ around: ids['9'], limit: 4 }), '98'],
    ['the root of a reply', () => ({ around: ids.c, limit: 4 }), '6543'],
    ['below the root of a reply', () => ({ before: ids.c, limit: 2 }), '32'],
    ['nothing above the newest', () => ({ after: ids['9'] }), ''],
    ['the first message at a time', () => ({ at: times['5'], limit: 2 }), '65'],
    ['the first message after a time', () => ({ at: (times['4'] ?? 0) + 1000, limit: 2 }), '65'],
    ['the oldest at time zero', () => ({ at: 0, limit: 4 }), '210'],
    ['the newest at a later time', () => ({ at: (times['9'] ?? 0) * 1.1, limit: 4 }), '98'],
  ])('answers %s', async (_what, place, expected) => {
    expect(await windowAt(place())).toBe(expected);
  });
});

describe('a window of a thread', () => {
  const thread = (query: string) => board.attempt('GET', `/${ids['4']}/thread?limit=2&${query}`);

  it('answers the replies next to a reply', async () => {
    expect(contents((await thread(`before=${ids.c}`)).body)).toBe('ba');
    expect(contents((await thread(`after=${ids.a}`)).body)).toBe('cb');
    expect(contents((await thread(`around=${ids.b}`)).body)).toBe('cb');
  });

  it('opens for a client that sends an empty anchor', async () => {
    expect(contents((await thread('skip=0&around=')).body)).toBe('dc');
  });

  it('refuses a message that is not a reply of the thread', async () => {
    for (const id of [ids['4'], ids['5'], NOWHERE]) {
      expect(await thread(`before=${id}`)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });
});

describe('a window', () => {
  it('is refused around a message that the channel does not have', async () => {
    const other = await board.get(ids['5'] ?? '');
    await board.turnToNewChannel();
    const elsewhere = await board.post({ content: 'elsewhere' });
    const empty = await board.attempt('GET', `?around=${other.id}`);
    board.turnTo(other.channel_id);
    for (const name of ['before', 'after', 'around']) {
      for (const id of [NOWHERE, elsewhere.id]) {
        const answer = await board.attempt('GET', `?${name}=${id}`);
        expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } });
      }
    }
    expect(empty.status).toBe(404);
  });

  it('has one place, and no skip', async () => {
    for (const query of [`before=${ids['5']}&after=${ids['3']}`, `around=${ids['5']}&at=1`, `at=1&skip=1`]) {
      const answer = await board.attempt('GET', `?${query}`);
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    }
  });

  it('is read by one statement', async () => {
    for (const query of [`before=${ids['5']}`, `after=${ids['5']}`, `around=${ids['5']}`, 'at=1']) {
      await board.list(`?${query}`);
      const statements = await recordStatements(() => board.list(`?${query}`));
      expect([query, statements.length]).toEqual([query, 1]);
    }
  });

  it('is empty at a time in an empty channel', async () => {
    const filled = board.channelId;
    await board.turnToNewChannel();
    expect(await board.list('?at=1')).toEqual([]);
    board.turnTo(filled);
  });

  it('is refused to a caller who may not read the channel', async () => {
    const stranger = await signUpAs(board.server, board.owner, 'Stranger', 'user');
    expect((await board.attempt('GET', `?around=${ids['5']}`, undefined, stranger)).status).toBe(403);
    expect((await board.attempt('GET', `?around=${NOWHERE}`, undefined, stranger)).status).toBe(403);
  });
});
