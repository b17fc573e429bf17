import { v7 as uuidv7 } from 'uuid';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { grant } from '../support/channels.ts';
import { signUpAs } from '../support/server.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(() => board.turnToNewChannel());

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const messageEvents = async () => (await board.log()).filter(({ type }) => type === 'message');

describe('a temp_id', () => {
  it('returns the first message again in its current state, without a second event', async () => {
    const first = await board.post({ content: 'once', temp_id: 't', meta: { a: 1 } });
    await board.edit(first.id, { content: 'edited' });
    const again = await board.post({ content: 'other words', temp_id: 't' });
    expect(again).toEqual({ ...(await board.get(first.id)), temp_id: 't' });
    expect(again).toMatchObject({ id: first.id, content: 'edited', meta: { a: 1 } });
    expect(await messageEvents()).toHaveLength(1);
  });

  it('that is empty counts as none', async () => {
    const posts = [
      await board.post({ content: '1', temp_id: '' }),
      await board.post({ content: '2', temp_id: '' }),
    ];
    expect(posts).toMatchObject([
      { content: '1', temp_id: null },
      { content: '2', temp_id: null },
    ]);
  });

  it('makes one post of ten concurrent ones', async () => {
    const answers = await Promise.all(times(10, (n) => board.post({ content: String(n), temp_id: 'ten' })));
    expect(answers).toEqual(Array(10).fill(answers[0]));
    expect(await messageEvents()).toHaveLength(1);
  });

  it('belongs to its author and channel', async () => {
    const first = await board.post({ content: 'mine', temp_id: 't' });
    const theirs = await board.post({ content: 'theirs', temp_id: 't' }, board.owner);
    expect(theirs).toMatchObject({ content: 'theirs', user_id: board.owner.id });
    await board.turnToNewChannel();
    const elsewhere = await board.post({ content: 'elsewhere', temp_id: 't' });
    expect(elsewhere.content).toBe('elsewhere');
    expect(new Set([first.id, theirs.id, elsewhere.id]).size).toBe(3);
  });

  it('counts a retried reply once', async () => {
    const root = await board.post({ content: 'root' });
    const reply = { content: 'r', parent_id: root.id, reply_to_id: root.id, temp_id: 'r' };
    const answers = await Promise.all(times(5, () => board.post(reply)));
    for (const answer of answers) {
      expect(answer).toMatchObject({ parent_id: root.id, reply_to_message: { id: root.id }, temp_id: 'r' });
    }
    expect(await board.get(root.id)).toMatchObject({ reply_count: 1 });
  });

  it('returns nothing after write access is lost', async () => {
    await board.post({ content: 'secret', temp_id: 't' });
    const body = { access_grants: [] };
    await board.server.call(`POST /channels/${board.channelId}/update`, { token: board.owner.token, body });
    expect(await board.send({ content: 'x', temp_id: 't' })).toMatchObject({ status: 403 });
  });

  it('is free again after its message was deleted', async () => {
    const first = await board.post({ content: 'a', temp_id: 't' });
    await board.remove(first.id);
    const second = await board.post({ content: 'b', temp_id: 't' });
    expect(second).toMatchObject({ content: 'b' });
    expect(second.id).not.toBe(first.id);
  });

  it('is not used up by a refused post', async () => {
    const refused = await board.send({ content: 'x', temp_id: 't', parent_id: uuidv7() });
    expect(refused.status).toBe(400);
    expect(await board.post({ content: 'x', temp_id: 't' })).toMatchObject({ parent_id: null });
  });
});

describe('a post', () => {
  it('is refused without credentials, for strangers and readers, and for a missing channel', async () => {
    const { server, owner } = board;
    const stranger = await signUpAs(server, owner, 'Stranger', 'user');
    const reader = await signUpAs(server, owner, 'Reader', 'user');
    await board.turnToNewChannel(grant(reader.id, 'read'));
    const body = { content: 'x', temp_id: 't', parent_id: uuidv7() };
    const path = board.at('/post');
    expect(await server.call(`POST ${path}`, { body })).toMatchObject({ status: 401 });
    // A caller without write access must not learn which messages exist.
    expect(await board.send(body, stranger)).toMatchObject({ status: 403 });
    expect(await board.send(body, reader)).toMatchObject({ status: 403 });
    board.turnTo(uuidv7());
    expect(await board.send(body)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it.each([
    ['parent_id', { parent_id: uuidv7() }],
    ['reply_to_id', { reply_to_id: uuidv7() }],
  ])('is refused when its %s does not exist', async (member, reference) => {
    const answer = await board.send({ content: 'x', ...reference });
    expect(answer).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    expect(answer.body.detail).toContain(member);
    expect(await board.log()).toEqual([]);
  });

  it('is refused when it refers to a message of another channel', async () => {
    const { id } = await board.post({ content: 'here' });
    await board.turnToNewChannel();
    for (const reference of [{ parent_id: id }, { reply_to_id: id }]) {
      expect(await board.send({ content: 'x', ...reference })).toMatchObject({ status: 400 });
    }
  });

  it('joins the thread of the root when it replies to a reply, and shows its quote as it is', async () => {
    const root = await board.post({ content: 'root' });
    const reply = await board.post({ content: 'reply', parent_id: root.id });
    await board.edit(reply.id, { content: 'edited' });
    const answer = await board.post({ content: 'x', parent_id: reply.id, reply_to_id: reply.id });
    expect(answer).toMatchObject({
      parent_id: root.id,
      reply_to_message: { id: reply.id, content: 'edited' },
    });
    expect(await board.get(answer.id)).toEqual({ ...answer, temp_id: undefined });
  });
});

describe('posting', () => {
  const readers = () =>
    board.server.database.query<{ user_id: string; last_read_at: string; is_hidden: boolean }>(
      'select user_id, last_read_at, is_hidden from channel_reader where channel_id = $1 order by user_id',
      [board.channelId],
    );

  it('marks the channel as read for the author only', async () => {
    await board.post({ content: '1' });
    const newest = await board.post({ content: '2' });
    const [reader, ...others] = await readers();
    expect(others).toEqual([]);
    expect(reader?.user_id).toBe(board.writer.id);
    expect(Number(reader?.last_read_at)).toBe(newest.created_at);
  });

  it('shows the channel again in the lists of people who hid it', async () => {
    await board.post({ content: '1' });
    await board.post({ content: '2' }, board.owner);
    await board.server.database.query('update channel_reader set is_hidden = true where channel_id = $1', [
      board.channelId,
    ]);
    await board.post({ content: '3' });
    expect((await readers()).map(({ is_hidden }) => is_hidden)).toEqual([false, false]);
  });
});
