import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

const pinned = async (query = '') => {
  const answer = await board.attempt('GET', `/pinned${query}`);
  expect(answer.status).toBe(200);
  return answer.body;
};
const NOWHERE = '018f0000-0000-7000-8000-000000000000';

describe('pinning', () => {
  it('records who pinned and when, and does not change the message otherwise', async () => {
    const { temp_id: _, ...message } = await board.post({ content: 'x', data: { a: 1 } });
    const answer = await board.pin(message.id, true, board.owner);
    const pin = { is_pinned: true, pinned_by: board.owner.id, pinned_at: expect.any(Number) };
    expect(answer).toMatchObject({ status: 200, body: { ...message, ...pin } });
    expect(answer.body.pinned_at).toBeGreaterThan(message.created_at);
    expect(await board.get(message.id)).toEqual(answer.body);
    expect((await board.log()).at(-1)).toMatchObject({
      type: 'message:update',
      message_id: message.id,
      actor: { id: board.owner.id },
      data: answer.body,
    });

    expect(await board.pin(message.id, false)).toMatchObject({ status: 200, body: message });
    expect(await board.get(message.id)).toEqual(message);
    expect((await board.log()).at(-1)).toMatchObject({ type: 'message:update', data: message });
  });

  it('changes nothing and sends no event when it is pinned already', async () => {
    const { id } = await board.post({ content: 'x' });
    await board.pin(id, false);
    expect(await board.log()).toHaveLength(1);
    const first = (await board.pin(id)).body;
    expect((await board.pin(id, true, board.owner)).body).toEqual(first);
    expect(await board.log()).toHaveLength(2);
  });

  it('by many at once makes one pin and one event', async () => {
    const { id } = await board.post({ content: 'x' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => board.pin(id, true, n % 2 ? board.owner : board.writer)),
    );
    const stored = await board.get(id);
    for (const { status, body } of answers) expect([status, body]).toEqual([200, stored]);
    const events = await board.log();
    expect(events.map(({ type }) => type)).toEqual(['message', 'message:update']);
    const [{ last_event } = {}] = await board.server.database.query<{ last_event: number }>(
      'select last_event::int from channel where id = $1',
      [board.channelId],
    );
    expect(last_event).toBe(events.at(-1)?.id);
  });

  it.each([['yes'], [1], [null], [undefined]])('refuses is_pinned %j', async (isPinned) => {
    const { id } = await board.post({ content: 'x' });
    const answer = await board.attempt('POST', `/${id}/pin`, { is_pinned: isPinned });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(answer.body.detail).toMatch(/^is_pinned: /);
    expect((await board.get(id)).is_pinned).toBe(false);
  });

  it('refuses unknown messages and tombstones, and deleting removes the pin', async () => {
    const root = await board.post({ content: 'root' });
    await board.post({ content: 'reply', parent_id: root.id });
    await board.pin(root.id);
    await board.remove(root.id);
    expect(await pinned()).toEqual([]);
    const before = await board.log();
    expect(before.at(-1)?.data).toMatchObject({ is_pinned: false, pinned_by: null, pinned_at: null });
    for (const id of [root.id, NOWHERE]) {
      expect(await board.pin(id)).toMatchObject({ status: 404, body: { code: 'not_found' } });
      expect(await board.pin(id, false)).toMatchObject({ status: 404 });
    }
    expect(await board.log()).toEqual(before);
    // Even a client that reads the log from the start does not learn of the pin.
    expect(before.filter(({ message_id, data }) => message_id === root.id && data.is_pinned)).toEqual([]);
  });
});

describe('the list of pins', () => {
  it('has the newest pin first, replies too, in the view of the other lists', async () => {
    const first = await board.post({ content: '1' });
    const second = await board.post({ content: '2' });
    const reply = await board.post({ content: 'reply', parent_id: first.id, reply_to_id: second.id });
    for (const { id } of [second, reply, first]) await board.pin(id);
    await board.react(reply.id, '👍');
    const list = await pinned();
    expect(list.map(({ id }: { id: string }) => id)).toEqual([first.id, reply.id, second.id]);
    expect(list).toEqual([await board.get(first.id), await board.get(reply.id), await board.get(second.id)]);
  });

  it('has pages of 20', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 21; n += 1) {
      const { id } = await board.post({ content: String(n) });
      await board.pin(id);
      ids.unshift(id);
    }
    const idsOf = async (query: string) => (await pinned(query)).map(({ id }: { id: string }) => id);
    expect(await idsOf('')).toEqual(ids.slice(0, 20));
    expect(await idsOf('?page=1')).toEqual(ids.slice(0, 20));
    expect(await idsOf('?page=2')).toEqual(ids.slice(20));
    expect(await idsOf('?page=3')).toEqual([]);
    expect(await idsOf(`?page=${Number.MAX_SAFE_INTEGER}`)).toEqual([]);
  });

  it.each(['0', '-1', '1.5', 'x', '', '9007199254740993'])('refuses page=%s', async (page) => {
    const answer = await board.attempt('GET', `/pinned?page=${page}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(answer.body.detail).toMatch(/^page: /);
  });
});
