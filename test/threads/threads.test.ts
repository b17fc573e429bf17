import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

describe('threads', () => {
  it('count their replies at the root, and replies to replies join the same thread', async () => {
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

  it('subtract deleted replies, down to zero', async () => {
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

describe('the list of a thread', () => {
  const thread = (id: string, query = '') => board.attempt('GET', `/${id}/thread${query}`);
  const contents = async (id: string, query?: string) =>
    (await thread(id, query)).body.map(({ content }: { content: string }) => content);

  it('has only replies, newest first, in the view of the other lists', async () => {
    const root = await board.post({ content: 'root' });
    const other = await board.post({ content: 'another thread' });
    await board.post({ content: 'elsewhere', parent_id: other.id });
    const one = await board.post({ content: '1', parent_id: root.id });
    const two = await board.post({ content: '2', parent_id: one.id, reply_to_id: one.id });
    await board.react(one.id, '👍');
    expect((await thread(root.id)).body).toEqual([await board.get(two.id), await board.get(one.id)]);
    expect(await contents(root.id, '?limit=1')).toEqual(['2']);
    expect(await contents(root.id, '?skip=1')).toEqual(['1']);
    expect(await contents(root.id, '?skip=2')).toEqual([]);
    expect(await contents(one.id)).toEqual([]);
  });

  it('stays when the root is deleted', async () => {
    const root = await board.post({ content: 'root' });
    await board.post({ content: 'reply', parent_id: root.id });
    await board.remove(root.id);
    expect(await contents(root.id)).toEqual(['reply']);
  });

  it('is not found for a message of another channel', async () => {
    const here = board.channelId;
    await board.turnToNewChannel();
    const foreign = await board.post({ content: 'elsewhere' });
    await board.post({ content: 'secret', parent_id: foreign.id });
    board.turnTo(here);
    for (const id of [foreign.id, '018f0000-0000-7000-8000-000000000000']) {
      expect(await thread(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });

  it.each(['limit=0', 'limit=201', 'skip=-1', 'limit=x'])('refuses ?%s', async (query) => {
    const { id } = await board.post({ content: 'root' });
    expect(await thread(id, `?${query}`)).toMatchObject({ status: 400, body: { code: 'validation' } });
  });
});
