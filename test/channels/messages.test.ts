import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';
import { grant } from './people.ts';

let server: TestServer;
let owner: Person;
let writer: Person;
let channelId: string;

beforeAll(async () => {
  server = await startServer();
  owner = await signUp(server, 'Owner');
  writer = await signUpAs(server, owner, 'Writer', 'user');
});
afterAll(() => server.close());
beforeEach(async () => {
  channelId = await createChannel();
});

async function createChannel(): Promise<string> {
  const body = { name: 'general', access_grants: [grant(writer.id, 'write')] };
  return (await server.call('POST /channels/create', { token: owner.token, body })).body.id;
}

const at = (path: string) => `/channels/${channelId}/messages${path}`;
const attempt = (request: string, body?: unknown) => server.call(request, { token: writer.token, body });
const send = (body: Record<string, unknown>) => attempt(`POST ${at('/post')}`, body);

async function post(body: Record<string, unknown>) {
  const answer = await send(body);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}
const get = async (id: string) => (await attempt(`GET ${at(`/${id}`)}`)).body;
const list = async (query = '') => (await attempt(`GET ${at('')}${query}`)).body;
const edit = (id: string, body: unknown) => attempt(`POST ${at(`/${id}/update`)}`, body);
const remove = (id: string) => attempt(`DELETE ${at(`/${id}/delete`)}`);
const log = (channel = channelId) =>
  server.database.query<{ id: number; type: string; message_id: string; data: Record<string, unknown> }>(
    'select id::int, type, message_id, data from channel_event where channel_id = $1 order by id',
    [channel],
  );

describe('a message', () => {
  it('has the same complete view wherever it is seen', async () => {
    const quoted = await post({ content: 'first' });
    const sent = { content: 'second', reply_to_id: quoted.id, data: { files: [] }, meta: { a: 1 } };
    const { temp_id, ...posted } = await post({ ...sent, temp_id: 'mine' });
    expect(temp_id).toBe('mine');
    const author = { id: writer.id, name: 'Writer', role: 'user' };
    expect(posted).toEqual({
      id: expect.any(String),
      user_id: writer.id,
      channel_id: channelId,
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
    expect(await get(posted.id)).toEqual(posted);
    expect((await list())[0]).toEqual(posted);
    const [, event] = await log();
    expect(event?.data).toEqual({ ...posted, temp_id });
  });

  it('has empty objects, null references and a null temp_id when it was sent without', async () => {
    const message = await post({ content: 'plain' });
    expect(message).toMatchObject({ data: {}, meta: {}, reply_to_id: null, parent_id: null, temp_id: null });
    const nulls = { content: 'x', data: null, meta: null, reply_to_id: null, parent_id: null, temp_id: null };
    expect(await post(nulls)).toMatchObject({ data: {}, meta: {}, temp_id: null });
  });

  it('cannot be given what the server decides', async () => {
    const forged = {
      id: '018f0000-0000-7000-8000-000000000000',
      user_id: owner.id,
      role: 'admin',
      created_at: 1,
      updated_at: 1,
      is_pinned: true,
      reply_count: 7,
      reactions: [{ name: 'x', count: 1, users: [] }],
      channel_id: '018f0000-0000-7000-8000-000000000001',
    };
    const answer = await send({ content: 'mine', ...forged });
    const ignored = answer.headers.get('x-ignored-members')?.split(', ') ?? [];
    expect(ignored.sort()).toEqual(Object.keys(forged).sort());
    expect(answer.body).toMatchObject({
      user_id: writer.id,
      channel_id: channelId,
      is_pinned: false,
      reply_count: 0,
      reactions: [],
    });
    expect(answer.body.id).not.toBe(forged.id);
    expect(answer.body.created_at).toBeGreaterThan(1);

    const edited = await edit(answer.body.id, { content: 'still mine', ...forged });
    const { updated_at, ...view } = edited.body;
    const { updated_at: _, temp_id, ...before } = answer.body;
    expect(temp_id).toBeNull();
    expect(view).toEqual({ ...before, content: 'still mine' });
    expect(updated_at).toBeGreaterThan(before.created_at);
  });

  it('keeps its author’s id without a name when the account is deleted', async () => {
    const leaver = await signUpAs(server, owner, 'Leaver', 'user');
    const body = { access_grants: [grant(writer.id, 'write'), grant(leaver.id, 'write')] };
    await server.call(`POST /channels/${channelId}/update`, { token: owner.token, body });
    const { body: message } = await server.call(`POST ${at('/post')}`, {
      token: leaver.token,
      body: { content: 'bye' },
    });
    await server.call(`DELETE /users/${leaver.id}`, { token: owner.token });
    expect(await get(message.id)).toMatchObject({ user_id: leaver.id, user: null, content: 'bye' });
  });
});

describe('content and free-form members', () => {
  const KIB = 1024;

  it.each([
    ['nothing at all', ''],
    ['emoji of several code points', '👩‍👩‍👧‍👦🏳️‍🌈'],
    ['right-to-left text with marks', '\u202eשלום\u202c مرحبا'],
    ['a line break of every kind', 'a\nb\r\nc\u2028d\u0085'],
    ['what looks like SQL and markup', `'; drop table message; -- <script>&"\\`],
    ['64 KiB exactly', 'a'.repeat(64 * KIB)],
    ['64 KiB exactly, in two-byte characters', 'ä'.repeat(32 * KIB)],
  ])('stores %s as it is', async (_what, content) => {
    const { id } = await post({ content });
    expect((await get(id)).content).toBe(content);
    expect((await edit(id, { content: 'other' })).status).toBe(200);
    expect((await edit(id, { content })).body.content).toBe(content);
  });

  it.each([
    ['one byte over 64 KiB', 'a'.repeat(64 * KIB + 1)],
    ['one byte over 64 KiB, in two-byte characters', `${'ä'.repeat(32 * KIB)}a`],
    ['NUL', 'a\0b'],
    ['half a surrogate pair', 'a\ud800b'],
    ['no text', 5],
    ['null', null],
    ['nothing', undefined],
  ])('refuses %s, in a post and in an edit', async (_what, content) => {
    const { id } = await post({ content: 'as it was' });
    for (const answer of [await send({ content }), await edit(id, { content })]) {
      expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
      expect(answer.body.detail).toMatch(/^content: /);
    }
    expect((await get(id)).content).toBe('as it was');
    expect(await log()).toHaveLength(1);
  });

  /** An object whose JSON has that many bytes. */
  const ofSize = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

  it.each(['data', 'meta'])('takes %s of 256 KiB as JSON and no byte more', async (member) => {
    const { id } = await post({ content: 'x', [member]: ofSize(256 * KIB) });
    expect(await get(id)).toMatchObject({ [member]: ofSize(256 * KIB) });
    const answer = await send({ content: 'x', [member]: ofSize(256 * KIB + 1) });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(answer.body.detail).toMatch(new RegExp(`^${member}: `));
  });

  it.each(['data', 'meta'])('does not let edits merge %s beyond that', async (member) => {
    const { id } = await post({ content: 'x', [member]: ofSize(200 * KIB) });
    const answer = await edit(id, { content: 'y', [member]: { b: 'x'.repeat(100 * KIB) } });
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation', issues: [{ path: member }] } });
    expect(await get(id)).toMatchObject({ content: 'x', [member]: ofSize(200 * KIB) });
    expect(await log()).toHaveLength(1);
    expect((await edit(id, { content: 'y', [member]: { a: 'short' } })).body[member]).toEqual({ a: 'short' });
  });

  it.each([
    ['a list', []],
    ['a text', 'x'],
    ['NUL in a value', { a: ['\0'] }],
    ['NUL in a name', { '\0': 1 }],
    ['half a surrogate pair in a value', { a: { b: '\udfff' } }],
    ['half a surrogate pair in a name', { '\ud800': 1 }],
  ])('refuses %s as data', async (_what, data) => {
    expect(await send({ content: 'x', data })).toMatchObject({ status: 400, body: { code: 'validation' } });
  });

  /** Posts JSON text as it is, at either door. */
  async function sendText(door: string, text: string) {
    const headers = { authorization: `Bearer ${writer.token}`, 'content-type': 'application/json' };
    const [url, body] =
      door === 'REST'
        ? [`${server.url}/api/v1${at('/post')}`, text]
        : [`${server.url}/trpc/messages.post`, text.replace('{', `{"id":"${channelId}",`)];
    return fetch(url, { method: 'POST', headers, body });
  }

  describe.each(['REST', 'tRPC'])('at the %s door', (door) => {
    it('free-form members of any name and depth stay as they are', async () => {
      const data = `{"constructor":"c","toString":"t","$like":"%","":{"deep":[[[{"n":1.5e-7,"big":1e300,"no":null}]]]}}`;
      expect((await sendText(door, `{"content":"x","data":${data}}`)).status).toBe(200);
      expect((await list())[0].data).toEqual(JSON.parse(data));
    });

    it.each(['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}'])(
      '%s reaches no prototype',
      async (data) => {
        const response = await sendText(door, `{"content":"x","data":${data},"__proto__":{"content":"y"}}`);
        expect([200, 400]).toContain(response.status);
        expect(({} as Record<string, unknown>).polluted).toBeUndefined();
        if (response.status === 200) expect((await list())[0]).toMatchObject({ content: 'x' });
      },
    );

    it.each([100, 5_000, 100_000])('data of %i levels within the first is refused', async (depth) => {
      const nested = (levels: number) => `{"a":${'['.repeat(levels)}${']'.repeat(levels)}}`;
      expect((await sendText(door, `{"content":"x","data":${nested(99)}}`)).status).toBe(200);
      const response = await sendText(door, `{"content":"y","data":${nested(depth)}}`);
      expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('nested')]);
      expect(await list()).toHaveLength(1);
    });
  });
});

describe('temp_id', () => {
  it('comes back in the answer and in the event, up to 256 characters', async () => {
    const temp_id = 't'.repeat(256);
    expect((await post({ content: 'x', temp_id })).temp_id).toBe(temp_id);
    expect((await log())[0]?.data.temp_id).toBe(temp_id);
    expect(await send({ content: 'x', temp_id: `${temp_id}t` })).toMatchObject({ status: 400 });
  });
});

describe('paging', () => {
  it('lists the main line, newest first', async () => {
    const root = await post({ content: '1' });
    await post({ content: 'reply', parent_id: root.id });
    for (const content of ['2', '3', '4']) await post({ content });
    const contents = async (query: string) =>
      (await list(query)).map((message: { content: string }) => message.content);
    expect(await contents('')).toEqual(['4', '3', '2', '1']);
    expect(await contents('?limit=2')).toEqual(['4', '3']);
    expect(await contents('?skip=1&limit=2')).toEqual(['3', '2']);
    expect(await contents('?skip=4')).toEqual([]);
    expect(await contents('?limit=200')).toHaveLength(4);
  });

  it('gives 50 unless told', async () => {
    for (let n = 0; n < 51; n += 1) await post({ content: String(n) });
    expect(await list()).toHaveLength(50);
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
    const answer = await attempt(`GET ${at('')}?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation' } });
    expect(answer.body.detail).toMatch(/^(limit|skip): /);
  });
});

describe('threads', () => {
  it('count their replies at the root, which joins replies to replies', async () => {
    const root = await post({ content: 'root' });
    const reply = await post({ content: 'reply', parent_id: root.id });
    const nested = await post({ content: 'nested', parent_id: reply.id });
    expect([reply.parent_id, nested.parent_id]).toEqual([root.id, root.id]);
    expect(await get(root.id)).toMatchObject({
      reply_count: 2,
      latest_reply_at: nested.created_at,
      updated_at: root.updated_at,
    });
    expect(await get(reply.id)).toMatchObject({ reply_count: 0, latest_reply_at: null });
    const events = await log();
    expect(events.map(({ type, message_id }) => [type, message_id])).toEqual([
      ['message', root.id],
      ['message', reply.id],
      ['message:reply', root.id],
      ['message', nested.id],
      ['message:reply', root.id],
    ]);
    expect(events[4]?.data).toEqual(await get(root.id));
  });

  it.each(['parent_id', 'reply_to_id'])('refuse a %s that is no message of this channel', async (member) => {
    const here = channelId;
    channelId = await createChannel();
    const foreign = await post({ content: 'elsewhere' });
    channelId = here;
    for (const id of [foreign.id, '018f0000-0000-7000-8000-000000000000']) {
      const answer = await send({ content: 'x', [member]: id });
      expect(answer).toMatchObject({ status: 400, body: { code: 'bad_request' } });
      expect(answer.body.detail).toMatch(new RegExp(`^${member}: `));
    }
    expect(await send({ content: 'x', [member]: 'nonsense' })).toMatchObject({
      status: 400,
      body: { code: 'validation' },
    });
    expect(await log()).toEqual([]);
  });

  it('count deleted replies out, down to none', async () => {
    const root = await post({ content: 'root' });
    const one = await post({ content: '1', parent_id: root.id });
    const two = await post({ content: '2', parent_id: root.id });
    expect((await remove(two.id)).body).toBe(true);
    expect(await get(root.id)).toMatchObject({ reply_count: 1, latest_reply_at: one.created_at });
    await remove(one.id);
    expect(await get(root.id)).toEqual({ ...(await get(root.id)), reply_count: 0, latest_reply_at: null });
    const events = await log();
    expect(events.slice(-2).map(({ type, message_id }) => [type, message_id])).toEqual([
      ['message:delete', one.id],
      ['message:reply', root.id],
    ]);
    expect(events.at(-1)?.data).toEqual(await get(root.id));
  });
});

describe('editing', () => {
  it('replaces the content and merges data and meta, member by member', async () => {
    const { id, created_at } = await post({
      content: 'before',
      data: { keep: 1, change: { a: 1, b: 2 } },
      meta: { m: 1 },
    });
    const answer = await edit(id, { content: 'after', data: { change: { a: 3 }, add: [1], none: null } });
    expect(answer.body).toMatchObject({
      content: 'after',
      data: { keep: 1, change: { a: 3 }, add: [1], none: null },
      meta: { m: 1 },
      created_at,
    });
    expect(answer.body.data.change).toEqual({ a: 3 });
    expect(answer.body.updated_at).toBeGreaterThan(created_at);
    expect(await get(id)).toEqual(answer.body);
    expect((await log())[1]).toMatchObject({ type: 'message:update', message_id: id, data: answer.body });
  });

  it('needs the content', async () => {
    const { id } = await post({ content: 'before' });
    expect(await edit(id, { data: {} })).toMatchObject({ status: 400, body: { code: 'validation' } });
  });
});

describe('deleting', () => {
  it('lets a message without replies disappear', async () => {
    const { id } = await post({ content: 'secret', data: { a: 1 }, meta: { b: 2 } });
    expect(await remove(id)).toMatchObject({ status: 200, body: true });
    expect(await attempt(`GET ${at(`/${id}`)}`)).toMatchObject({ status: 404 });
    expect(await list()).toEqual([]);
    expect(await edit(id, { content: 'x' })).toMatchObject({ status: 404 });
    expect(await remove(id)).toMatchObject({ status: 404 });
    const [, event, ...rest] = await log();
    expect(event).toMatchObject({ type: 'message:delete', message_id: id });
    expect(event?.data).toMatchObject({ content: '', data: {}, meta: { deleted: true } });
    expect(rest).toEqual([]);
  });

  it('takes a quote out of the messages that quote it', async () => {
    const quoted = await post({ content: 'secret' });
    const { id } = await post({ content: 'see above', reply_to_id: quoted.id });
    await remove(quoted.id);
    expect(await get(id)).toMatchObject({ reply_to_id: null, reply_to_message: null });
  });

  it('leaves a tombstone where there are replies, which nobody can edit or delete again', async () => {
    const root = await post({ content: 'secret', data: { a: 1 }, meta: { b: 2 } });
    const reply = await post({ content: 'reply', parent_id: root.id });
    await remove(root.id);
    const tombstone = await get(root.id);
    expect(tombstone).toMatchObject({ content: '', reply_count: 1, latest_reply_at: reply.created_at });
    expect([tombstone.data, tombstone.meta]).toEqual([{}, { deleted: true }]);
    expect(tombstone.updated_at).toBeGreaterThan(root.updated_at);
    expect(await list()).toEqual([tombstone]);
    expect((await get(reply.id)).content).toBe('reply');
    const before = await log();
    expect(before.at(-1)).toMatchObject({ type: 'message:delete', data: tombstone });

    expect(await edit(root.id, { content: 'back', meta: { deleted: false } })).toMatchObject({ status: 404 });
    expect(await remove(root.id)).toMatchObject({ status: 404 });
    expect(await get(root.id)).toEqual(tombstone);
    expect(await log()).toEqual(before);
    expect(await post({ content: 'one more', parent_id: root.id })).toMatchObject({ parent_id: root.id });
  });

  it('takes the tombstone away with its last reply', async () => {
    const root = await post({ content: 'root' });
    const one = await post({ content: '1', parent_id: root.id });
    const two = await post({ content: '2', parent_id: root.id });
    await remove(root.id);
    await remove(one.id);
    expect(await get(root.id)).toMatchObject({ reply_count: 1 });
    await remove(two.id);
    expect(await list()).toEqual([]);
    expect((await log()).slice(-3).map(({ type, message_id }) => [type, message_id])).toEqual([
      ['message:delete', two.id],
      ['message:reply', root.id],
      ['message:delete', root.id],
    ]);
  });

  it('is not fooled by a message that was posted to look deleted', async () => {
    const { id } = await post({ content: '', meta: { deleted: true } });
    expect((await edit(id, { content: 'hello' })).status).toBe(200);
    expect((await edit(id, { content: '' })).status).toBe(200);
    expect(await remove(id)).toMatchObject({ status: 200 });
    expect(await list()).toEqual([]);
  });
});

describe('times', () => {
  it('are whole microseconds in nanoseconds, as integers in the JSON text', async () => {
    const before = BigInt(Date.now()) * 1_000_000n;
    const { id } = await post({ content: 'x' });
    const url = `${server.url}/api/v1${at(`/${id}`)}`;
    const text = await (await fetch(url, { headers: { authorization: `Bearer ${writer.token}` } })).text();
    const [, digits = ''] = /"created_at":(\d+)[,}]/.exec(text) ?? [];
    const [stored] = await server.database.query<{ created_at: string }>(
      'select created_at::text from message where id = $1',
      [id],
    );
    expect(digits).toBe(stored?.created_at);
    expect(BigInt(digits) % 1000n).toBe(0n);
    // The database's clock and ours are the same machine's here.
    expect(BigInt(digits)).toBeGreaterThanOrEqual(before - 1_000_000n);
    expect(digits).toHaveLength(19);
  });
});
