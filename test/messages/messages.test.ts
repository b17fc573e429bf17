import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openBoard } from '../channels/board.ts';
import { grant } from '../support/channels.ts';
import { signUpAs } from '../support/server.ts';

const board = await openBoard();
afterAll(() => board.close());
beforeEach(async () => {
  await board.turnToNewChannel();
});

describe('a message', () => {
  it('has the same complete view in every place', async () => {
    const quoted = await board.post({ content: 'first' });
    const sent = { content: 'second', reply_to_id: quoted.id, data: { files: [] }, meta: { a: 1 } };
    const { temp_id, ...posted } = await board.post({ ...sent, temp_id: 'mine' });
    expect(temp_id).toBe('mine');
    const author = { id: board.writer.id, name: 'Writer', role: 'user' };
    expect(posted).toEqual({
      id: expect.any(String),
      user_id: board.writer.id,
      channel_id: board.channelId,
      ...sent,
      parent_id: null,
      is_pinned: false,
      pinned_by: null,
      pinned_at: null,
      user: author,
      reactions: [],
      reply_count: 0,
      latest_reply_at: null,
      reply_to_message: expect.objectContaining({ id: quoted.id, content: 'first', user: author }),
      created_at: expect.any(Number),
      updated_at: posted.created_at,
    });
    expect(await board.get(posted.id)).toEqual(posted);
    expect((await board.list())[0]).toEqual(posted);
    const [, event] = await board.log();
    expect(event?.data).toEqual({ ...posted, temp_id });
  });

  it('has no files, empty objects, null references and a null temp_id by default', async () => {
    const message = await board.post({ content: 'plain' });
    const references = { reply_to_id: null, parent_id: null, temp_id: null };
    expect(message).toMatchObject({ meta: {}, ...references });
    expect(message.data).toEqual({ files: [] });
    for (const data of [null, { files: null }]) {
      const nulls = await board.post({ content: 'x', data, meta: null, ...references });
      expect(nulls).toMatchObject({ data: { files: [] }, meta: {}, temp_id: null });
    }
  });

  it('has an array of files at every endpoint, also when it was stored without', async () => {
    const root = await board.post({ content: 'root', data: { a: 1 } });
    await board.post({ content: 'reply', parent_id: root.id, reply_to_id: root.id });
    await board.pin(root.id);
    const { query } = board.server.database;
    await query(`update message set data = data - 'files' where channel_id = $1`, [board.channelId]);
    const lists = ['', '/pinned', `/${root.id}/thread`, '/search?q=reply'];
    for (const path of lists) {
      const { body } = await board.server.call(
        path.startsWith('/search')
          ? `GET /channels/messages${path}&channel_id=${board.channelId}`
          : `GET ${board.at(path)}`,
        { token: board.writer.token },
      );
      expect(body).toHaveLength(1);
      expect(body[0].data.files).toEqual([]);
      expect(body[0].reply_to_message?.data ?? { a: 1, files: [] }).toEqual({ a: 1, files: [] });
    }
    const edited = await board.edit(root.id, { content: 'edited', data: { files: null } });
    expect(edited.body.data).toEqual({ a: 1, files: [] });
  });

  it('has the same text in a list and alone: no spaces, and the members in the same order', async () => {
    const quoted = await board.post({ content: 'first' });
    const forms = { data: { b: [1, { c: null }], files: [] }, meta: { 'a b': 'x y' } };
    const { id } = await board.post({ content: 'a "b" : c, d', reply_to_id: quoted.id, ...forms });
    await board.react(id, '👍');
    const textOf = async (path: string) => {
      const headers = { authorization: `Bearer ${board.writer.token}` };
      return (await fetch(`${board.server.url}/api/v1${board.at(path)}`, { headers })).text();
    };
    expect(await textOf('?limit=1')).toBe(`[${await textOf(`/${id}`)}]`);
  });

  it('ignores members that only the server sets', async () => {
    const forged = {
      id: '018f0000-0000-7000-8000-000000000000',
      user_id: board.owner.id,
      role: 'admin',
      created_at: 1,
      updated_at: 1,
      is_pinned: true,
      reply_count: 7,
      reactions: [{ name: 'x', count: 1, users: [] }],
      channel_id: '018f0000-0000-7000-8000-000000000001',
    };
    const answer = await board.send({ content: 'mine', ...forged });
    const ignored = answer.headers.get('x-ignored-members')?.split(', ') ?? [];
    expect(ignored.sort()).toEqual(Object.keys(forged).sort());
    expect(answer.body).toMatchObject({
      user_id: board.writer.id,
      channel_id: board.channelId,
      is_pinned: false,
      reply_count: 0,
      reactions: [],
    });
    expect(answer.body.id).not.toBe(forged.id);
    expect(answer.body.created_at).toBeGreaterThan(1);

    const edited = await board.edit(answer.body.id, { content: 'still mine', ...forged });
    const { updated_at, ...view } = edited.body;
    const { updated_at: _, temp_id, ...before } = answer.body;
    expect(temp_id).toBeNull();
    expect(view).toEqual({ ...before, content: 'still mine' });
    expect(updated_at).toBeGreaterThan(before.created_at);
  });

  it('keeps the id of its author without a name when the account is deleted', async () => {
    const leaver = await signUpAs(board.server, board.owner, 'Leaver', 'user');
    const body = { access_grants: [grant(board.writer.id, 'write'), grant(leaver.id, 'write')] };
    await board.server.call(`POST /channels/${board.channelId}/update`, { token: board.owner.token, body });
    const { body: message } = await board.server.call(`POST ${board.at('/post')}`, {
      token: leaver.token,
      body: { content: 'bye' },
    });
    await board.server.call(`DELETE /users/${leaver.id}`, { token: board.owner.token });
    expect(await board.get(message.id)).toMatchObject({ user_id: leaver.id, user: null, content: 'bye' });
  });
});

describe('temp_id', () => {
  it('is returned in the answer and in the event, up to 256 characters', async () => {
    const temp_id = 't'.repeat(256);
    expect((await board.post({ content: 'x', temp_id })).temp_id).toBe(temp_id);
    expect((await board.log())[0]?.data.temp_id).toBe(temp_id);
    expect(await board.send({ content: 'x', temp_id: `${temp_id}t` })).toMatchObject({ status: 400 });
  });
});

describe('paging', () => {
  it('lists the main line, newest first', async () => {
    const root = await board.post({ content: '1' });
    await board.post({ content: 'reply', parent_id: root.id });
    for (const content of ['2', '3', '4']) await board.post({ content });
    const contents = async (query: string) =>
      (await board.list(query)).map((message: { content: string }) => message.content);
    expect(await contents('')).toEqual(['4', '3', '2', '1']);
    expect(await contents('?limit=2')).toEqual(['4', '3']);
    expect(await contents('?skip=1&limit=2')).toEqual(['3', '2']);
    expect(await contents('?skip=4')).toEqual([]);
    expect(await contents('?limit=200')).toHaveLength(4);
  });

  it('returns 50 by default', async () => {
    for (let n = 0; n < 51; n += 1) await board.post({ content: String(n) });
    expect(await board.list()).toHaveLength(50);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=-1',
    'limit=abc',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'skip=-1',
    'skip=x',
  ])('refuses ?%s', async (query) => {
    const answer = await board.attempt('GET', `?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(answer.body.detail).toMatch(/^(limit|skip): /);
  });
});

describe('times', () => {
  it('are whole microseconds in nanoseconds, as integers in the JSON text', async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const { id } = await board.post({ content: 'x' });
    const url = `${board.server.url}/api/v1${board.at(`/${id}`)}`;
    const text = await (
      await fetch(url, { headers: { authorization: `Bearer ${board.writer.token}` } })
    ).text();
    const [, digits = ''] = /"created_at":(\d+)[,}]/.exec(text) ?? [];
    const [stored] = await board.server.database.query<{ created_at: string }>(
      'select created_at::text from message where id = $1',
      [id],
    );
    expect(digits).toBe(stored?.created_at);
    expect(BigInt(digits) % 1000n).toBe(0n);
    // The database and the test use the clock of the same machine.
    expect(BigInt(digits)).toBeGreaterThanOrEqual(before - 1_000_000n);
    expect(digits).toHaveLength(19);
  });
});
