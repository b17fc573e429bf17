import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

describe('editing', () => {
  it('replaces the content and merges data and meta, member by member', async () => {
    const { id, created_at } = await board.post({
      content: 'before',
      data: { keep: 1, change: { a: 1, b: 2 } },
      meta: { m: 1 },
    });
    const answer = await board.edit(id, {
      content: 'after',
      data: { change: { a: 3 }, add: [1], none: null },
    });
    expect(answer.body).toMatchObject({
      content: 'after',
      data: { keep: 1, change: { a: 3 }, add: [1], none: null },
      meta: { m: 1 },
      created_at,
    });
    expect(answer.body.data.change).toEqual({ a: 3 });
    expect(answer.body.updated_at).toBeGreaterThan(created_at);
    expect(await board.get(id)).toEqual(answer.body);
    expect((await board.log())[1]).toMatchObject({
      type: 'message:update',
      message_id: id,
      data: answer.body,
    });
  });

  it('requires the content', async () => {
    const { id } = await board.post({ content: 'before' });
    expect(await board.edit(id, { data: {} })).toMatchObject({ status: 400, body: { code: 'validation' } });
  });
});

describe('deleting', () => {
  it('removes a message without replies', async () => {
    const { id } = await board.post({ content: 'secret', data: { a: 1 }, meta: { b: 2 } });
    expect(await board.remove(id)).toMatchObject({ status: 200, body: true });
    expect(await board.attempt('GET', `/${id}`)).toMatchObject({ status: 404 });
    expect(await board.list()).toEqual([]);
    expect(await board.edit(id, { content: 'x' })).toMatchObject({ status: 404 });
    expect(await board.remove(id)).toMatchObject({ status: 404 });
    const [, event, ...rest] = await board.log();
    expect(event).toMatchObject({ type: 'message:delete', message_id: id });
    expect(event?.data).toMatchObject({ content: '', data: {}, meta: { deleted: true } });
    expect(rest).toEqual([]);
  });

  it('removes the quote from messages that quote it', async () => {
    const quoted = await board.post({ content: 'secret' });
    const { id } = await board.post({ content: 'see above', reply_to_id: quoted.id });
    await board.remove(quoted.id);
    expect(await board.get(id)).toMatchObject({ reply_to_id: null, reply_to_message: null });
  });

  it('leaves a tombstone for a message with replies, which cannot be edited or deleted again', async () => {
    const root = await board.post({ content: 'secret', data: { a: 1 }, meta: { b: 2 } });
    const reply = await board.post({ content: 'reply', parent_id: root.id });
    await board.edit(root.id, { content: 'another secret' });
    await board.remove(root.id);
    const tombstone = await board.get(root.id);
    expect(tombstone).toMatchObject({ content: '', reply_count: 1, latest_reply_at: reply.created_at });
    expect([tombstone.data, tombstone.meta]).toEqual([{ files: [] }, { deleted: true }]);
    // Clients show a message as edited when its times differ.
    expect(tombstone.updated_at).toBe(tombstone.created_at);
    for (const { data } of (await board.log()).filter(({ data }) => data.id === root.id)) {
      expect(data.updated_at).toBe(tombstone.created_at);
    }
    expect(await board.list()).toEqual([tombstone]);
    expect((await board.get(reply.id)).content).toBe('reply');
    const before = await board.log();
    expect(before.at(-1)).toMatchObject({ type: 'message:delete', data: tombstone });

    expect(await board.edit(root.id, { content: 'back', meta: { deleted: false } })).toMatchObject({
      status: 404,
    });
    expect(await board.remove(root.id)).toMatchObject({ status: 404 });
    expect(await board.get(root.id)).toEqual(tombstone);
    expect(await board.log()).toEqual(before);
    expect(await board.post({ content: 'one more', parent_id: root.id })).toMatchObject({
      parent_id: root.id,
    });
  });

  it('removes the tombstone with its last reply', async () => {
    const root = await board.post({ content: 'root' });
    const one = await board.post({ content: '1', parent_id: root.id });
    const two = await board.post({ content: '2', parent_id: root.id });
    await board.remove(root.id);
    await board.remove(one.id);
    expect(await board.get(root.id)).toMatchObject({ reply_count: 1 });
    await board.remove(two.id);
    expect(await board.list()).toEqual([]);
    expect((await board.log()).slice(-3).map(({ type, message_id }) => [type, message_id])).toEqual([
      ['message:delete', two.id],
      ['message:reply', root.id],
      ['message:delete', root.id],
    ]);
  });

  it('treats a message that was posted to look deleted like any other', async () => {
    const { id, meta } = await board.post({ content: '', meta: { deleted: true } });
    expect(meta).toEqual({});
    expect((await board.edit(id, { content: 'hello' })).status).toBe(200);
    expect((await board.edit(id, { content: '' })).status).toBe(200);
    expect(await board.remove(id)).toMatchObject({ status: 200 });
    expect(await board.list()).toEqual([]);
  });
});

describe('files', () => {
  const linksOf = async (id: string) => {
    const query = 'select file_id from message_file where message_id = $1 order by file_id';
    return (await board.server.database.query<{ file_id: string }>(query, [id])).map(
      ({ file_id }) => file_id,
    );
  };
  /** Uploads a file for a person; its bytes do not matter here. */
  const own = async (userId: string) => {
    const [file] = await board.server.database.query<{ id: string }>(
      `insert into file (id, user_id, filename, content_type, size, sha256, meta, created_at, updated_at)
       values (gen_random_uuid(), $1, 'a.txt', 'text/plain', 1, '', '{}', 1, 1) returning id`,
      [userId],
    );
    return file?.id ?? '';
  };
  const carrying = (...ids: string[]) => ({
    content: 'x',
    data: { files: ids.map((id) => ({ type: 'file', id })) },
  });

  it('of an edit replace those of the message, when the editor may attach them', async () => {
    const [one, two] = [await own(board.writer.id), await own(board.writer.id)];
    const { id } = await board.post({ content: 'x' });
    expect((await board.edit(id, carrying(one, two))).status).toBe(200);
    expect(await linksOf(id)).toEqual([one, two].toSorted());
    expect((await board.edit(id, { content: 'y' })).status).toBe(200);
    expect(await linksOf(id)).toHaveLength(2);
    expect((await board.edit(id, carrying(two))).status).toBe(200);
    expect(await linksOf(id)).toEqual([two]);

    const before = await board.get(id);
    const foreign = await board.edit(id, carrying(two, await own(board.owner.id)));
    expect(foreign).toMatchObject({ status: 400, body: { code: 'bad_request' } });
    expect([await board.get(id), await linksOf(id)]).toEqual([before, [two]]);
  });

  it('are removed with the message, also when a tombstone stays', async () => {
    const file = await own(board.writer.id);
    const root = await board.post({ content: 'root' });
    await board.edit(root.id, carrying(file));
    const mention = `insert into message_mention (channel_id, message_id, user_id, created_at) values ($1, $2, $3, 1)`;
    await board.server.database.query(mention, [board.channelId, root.id, board.owner.id]);
    await board.post({ content: 'reply', parent_id: root.id });
    await board.remove(root.id);
    expect(await linksOf(root.id)).toEqual([]);
    const mentions = 'select 1 from message_mention where message_id = $1';
    expect(await board.server.database.query(mentions, [root.id])).toEqual([]);
  });
});
