import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { type Grant, grant } from '../support/channels.ts';
import { type Person, signUpAs } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

let reader: Person;
const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  // Each test has a person of its own, whose list has no threads of other tests.
  reader = await signUpAs(board.server, board.owner, `Reader${count++}`, 'user');
  await board.turnToNewChannel(grant(reader.id, 'write'));
});
let count = 0;

const threads = async (query = '', person = reader) => {
  const answer = await board.server.call(`GET /channels/threads${query}`, { token: person.token });
  expect(answer.status).toBe(200);
  return answer.body as {
    root: { id: string; content: string; meta: unknown };
    channel: { id: string };
    unread_count: number;
  }[];
};
const idsOf = async (query?: string, person?: Person) =>
  (await threads(query, person)).map(({ root }) => root.id);
const begin = async (content: string, person?: Person) =>
  (await board.post({ content }, person)).id as string;
const reply = (rootId: string, content = 'reply', person?: Person) =>
  board.post({ content, parent_id: rootId }, person);
const regrant = (...access_grants: Grant[]) =>
  board.server.call(`POST /channels/${board.channelId}/update`, {
    token: board.owner.token,
    body: { access_grants },
  });

describe('the threads of a person', () => {
  it('are listed once in each channel, however often the person replied, and late replies keep them', async () => {
    const expected: string[] = [];
    for (let n = 0; n < 3; n += 1) {
      await board.turnToNewChannel(grant(reader.id, 'write'));
      const begun = await begin('begun', reader);
      const roots = [await begin('1'), await begin('2'), await begin('3')];
      for (const root of roots) for (let m = 0; m < 3; m += 1) await reply(root, 'mine', reader);
      const { id } = await reply(begun);
      expected.unshift(begun, ...roots.toReversed());
      if (n > 0) continue;
      // The only reply is deleted, and another one is posted: the message is a thread again.
      await board.remove(id);
      expect(await idsOf()).not.toContain(begun);
      await reply(begun);
    }
    expect(await idsOf()).toEqual(expected);
  });

  it('are those that they began, replied to or were mentioned in, the newest reply first', async () => {
    const begun = await begin('begun', reader);
    const joined = await begin('joined');
    const called = await begin('called');
    const others = await begin('of others');
    await begin('without replies', reader);
    await reply(joined, 'mine', reader);
    await reply(called, `look, <@U:${reader.id}|you>`);
    await reply(begun);
    await reply(others, 'look, @channel');
    expect(await idsOf()).toEqual([begun, called, joined]);
    expect(await idsOf('?skip=1&limit=1')).toEqual([called]);

    await reply(joined);
    const [first] = await threads();
    expect(first?.root).toEqual(await board.get(joined));
    expect(first?.channel).toEqual({ id: board.channelId, name: 'general', type: null });
    // Each person has their own list.
    expect(await idsOf('?limit=4', board.writer)).toEqual([joined, others, begun, called]);
  });

  it('count unread replies of other people, and can be limited to threads with such', async () => {
    const seen = await begin('seen', reader);
    const news = await begin('news', reader);
    await reply(seen);
    await board.server.call(`POST /channels/${board.channelId}/read`, { token: reader.token, body: {} });
    await reply(news);
    await reply(news);
    const counts = async (query?: string) =>
      (await threads(query)).map(({ root, unread_count }) => [root.id, unread_count]);
    expect(await counts()).toEqual([
      [news, 2],
      [seen, 0],
    ]);
    expect(await counts('?unread=true')).toEqual([[news, 2]]);
    // The author of a reply has read the thread up to it.
    await reply(news, 'mine', reader);
    expect(await counts('?unread=true')).toEqual([]);
    const { id } = await reply(news);
    expect(await counts('?unread=true')).toEqual([[news, 1]]);
    await board.remove(id);
    expect(await counts('?unread=true')).toEqual([]);
  });

  it('include one whose root was deleted, and not one without replies', async () => {
    const root = await begin('gone');
    const mine = await reply(root, 'mine', reader);
    await board.remove(root);
    const [thread] = await threads();
    expect(thread?.root).toMatchObject({ id: root, content: '', meta: { deleted: true } });
    await board.remove(mine.id);
    expect(await threads()).toEqual([]);
  });

  it('are in channels that they may read now', async () => {
    const root = await begin('x', reader);
    await reply(root);
    expect(await idsOf()).toEqual([root]);
    await regrant();
    expect(await idsOf()).toEqual([]);
    await regrant(grant(reader.id, 'read'));
    expect(await idsOf()).toEqual([root]);
  });

  it('are not in group channels that they left', async () => {
    const { id } = (
      await board.server.call('POST /channels/create', {
        token: board.owner.token,
        body: { name: 'group', type: 'group', user_ids: [reader.id] },
      })
    ).body;
    board.turnTo(id);
    const root = await begin('x', reader);
    await reply(root, 'y', board.owner);
    expect(await idsOf()).toEqual([root]);
    await board.server.database.query('delete from channel_member where channel_id = $1 and user_id = $2', [
      id,
      reader.id,
    ]);
    expect(await idsOf()).toEqual([]);
  });

  it('do not include those of a webhook that they made', async () => {
    const root = await begin('by a program', reader);
    await reply(root);
    await board.server.database.query(
      "update message set author_type = 'webhook', author_id = gen_random_uuid() where id = $1",
      [root],
    );
    expect(await idsOf()).toEqual([]);
  });

  it('are listed in one statement, for any number', async () => {
    for (let n = 0; n < 5; n += 1) await reply(await begin(String(n), reader));
    await threads();
    const statements = await recordStatements(() => threads());
    expect(statements).toHaveLength(1);
  });
});

describe('the list of threads', () => {
  it.each(['?unread=maybe', '?limit=0', '?limit=201', '?skip=-1', '?skip=x'])('refuses %s', async (query) => {
    const answer = await board.server.call(`GET /channels/threads${query}`, { token: reader.token });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(answer.body.detail).toMatch(/^(unread|limit|skip): /);
  });

  it('requires credentials', async () => {
    expect((await board.server.call('GET /channels/threads')).status).toBe(401);
  });
});
