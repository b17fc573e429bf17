import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Board, openBoard } from './board.ts';

let board: Board;
beforeAll(async () => {
  board = await openBoard();
});
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

describe('threads', () => {
  it('count their replies at the root, which joins replies to replies', async () => {
    const root = await board.post({ content: 'root' });
    const reply = await board.post({ content: 'reply', parent_id: root.id });
    const nested = await board.post({ content: 'nested', parent_id: reply.id });
    expect([reply.parent_id, nested.parent_id]).toEqual([root.id, root.id]);
    expect(await board.get(root.id)).toMatchObject({
      reply_count: 2,
      latest_reply_at: nested.created_at,
      updated_at: root.updated_at,
    });
    expect(await board.get(reply.id)).toMatchObject({ reply_count: 0, latest_reply_at: null });
    const events = await board.log();
    expect(events.map(({ type, message_id }) => [type, message_id])).toEqual([
      ['message', root.id],
      ['message', reply.id],
      ['message:reply', root.id],
      ['message', nested.id],
      ['message:reply', root.id],
    ]);
    expect(events[4]?.data).toEqual(await board.get(root.id));
  });

  it.each(['parent_id', 'reply_to_id'])('refuse a %s that is no message of this channel', async (member) => {
    const here = board.channelId;
    await board.turnToNewChannel();
    const foreign = await board.post({ content: 'elsewhere' });
    board.turnTo(here);
    for (const id of [foreign.id, '018f0000-0000-7000-8000-000000000000']) {
      const answer = await board.send({ content: 'x', [member]: id });
      expect(answer).toMatchObject({ status: 400, body: { code: 'bad_request' } });
      expect(answer.body.detail).toMatch(new RegExp(`^${member}: `));
    }
    expect(await board.send({ content: 'x', [member]: 'nonsense' })).toMatchObject({
      status: 400,
      body: { code: 'validation' },
    });
    expect(await board.log()).toEqual([]);
  });

  it('count deleted replies out, down to none', async () => {
    const root = await board.post({ content: 'root' });
    const one = await board.post({ content: '1', parent_id: root.id });
    const two = await board.post({ content: '2', parent_id: root.id });
    expect((await board.remove(two.id)).body).toBe(true);
    expect(await board.get(root.id)).toMatchObject({ reply_count: 1, latest_reply_at: one.created_at });
    await board.remove(one.id);
    expect(await board.get(root.id)).toEqual({
      ...(await board.get(root.id)),
      reply_count: 0,
      latest_reply_at: null,
    });
    const events = await board.log();
    expect(events.slice(-2).map(({ type, message_id }) => [type, message_id])).toEqual([
      ['message:delete', one.id],
      ['message:reply', root.id],
    ]);
    expect(events.at(-1)?.data).toEqual(await board.get(root.id));
  });
});
