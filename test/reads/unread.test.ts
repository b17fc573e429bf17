import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { grant } from '../support/channels.ts';
import { type Person, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

let channelId: string;

const NOBODY = '018f0000-0000-7000-8000-000000000000';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [admin, ann, ben] = await signUpAll(server, 'Admin', 'Ann', 'Ben');
beforeEach(async () => {
  const body = { name: 'busy', access_grants: [grant(ann.id, 'write'), grant(ben.id, 'read')] };
  channelId = (await as(admin)('POST /channels/create', body)).body.id;
});

const post = async (person: Person, content: string, more: object = {}, id = channelId) =>
  (await as(person)(`POST /channels/${id}/messages/post`, { content, ...more })).body;
/** The unread counts of a person; checks that they are equal alone and in the list. */
async function news(person: Person, id = channelId) {
  const one = (await as(person)(`GET /channels/${id}`)).body;
  const list = (await as(person)('GET /channels')).body;
  const listed = list.find((channel: { id: string }) => channel.id === id);
  const pick = ({ unread_count, mention_count, last_read_at, notify }: typeof one) => ({
    unread_count,
    mention_count,
    last_read_at,
    notify,
  });
  expect(pick(listed)).toEqual(pick(one));
  return pick(one);
}
const read = (person: Person, body: object = {}) => as(person)(`POST /channels/${channelId}/read`, body);

describe('unread messages', () => {
  it('are messages of other users, replies included, that are not deleted', async () => {
    const root = await post(ann, 'root');
    const gone = await post(ann, 'gone');
    const rootOfReply = await post(ann, 'tombstone');
    await post(ann, 'reply', { parent_id: rootOfReply.id });
    await as(ann)(`DELETE /channels/${channelId}/messages/${gone.id}/delete`);
    await as(ann)(`DELETE /channels/${channelId}/messages/${rootOfReply.id}/delete`);
    expect(await news(ben)).toMatchObject({ unread_count: 2, mention_count: 0, last_read_at: null });
    expect(await news(ann)).toMatchObject({ unread_count: 0 });
    expect(root.content).toBe('root');
  });

  it('include messages of a model for the account that called it, although clients show that account as their author', async () => {
    await post(ann, 'called');
    const { id, user } = await post(ann, 'kingfisher', { meta: { mine: 1 } });
    await server.database.query(
      "update message set author_type = 'model', author_id = 'gpt-4o' where id = $1",
      [id],
    );
    await server.database.query('update channel_reader set last_read_at = 1 where user_id = $1', [ann.id]);
    expect(await news(ann)).toMatchObject({ unread_count: 1 });
    expect(await news(ben)).toMatchObject({ unread_count: 2 });
    const [newest] = (await as(ann)(`GET /channels/${channelId}/messages`)).body;
    expect([newest.id, newest.user]).toEqual([id, user]);
    const found = (await as(ben)(`GET /channels/messages/search?q=kingfisher&from=${ann.id}`)).body;
    expect(found.map((one: { id: string }) => one.id)).toContain(id);
  });

  it('are newer than the membership and the account of the reader', async () => {
    await post(ann, 'early');
    const late = await signUpAs(server, admin, `Late${channelId}`, 'user');
    await as(admin)(`POST /channels/${channelId}/update`, { access_grants: [grant('*', 'read')] });
    // Accounts have their age in whole seconds.
    await server.database.query(
      'update message set created_at = created_at - 2000000000 where channel_id = $1',
      [channelId],
    );
    expect(await news(late)).toMatchObject({ unread_count: 0 });
    const group = { type: 'group', name: 'x', user_ids: [ann.id] };
    const { id } = (await as(admin)('POST /channels/create', group)).body;
    await post(ann, 'before', {}, id);
    await as(admin)(`POST /channels/${id}/update/members/add`, { user_ids: [ben.id] });
    await post(ann, 'after', {}, id);
    expect(await news(ben, id)).toMatchObject({ unread_count: 1 });
  });

  it('include mentions of the reader and of all people, each message once', async () => {
    const mention = (message: { id: string; created_at: number }, userId: string) =>
      server.database.query(
        `insert into message_mention (channel_id, message_id, user_id, created_at)
         values ($1, $2, $3, $4::bigint) on conflict do nothing`,
        [channelId, message.id, userId, `${message.created_at}`],
      );
    const [one, two, three] = [await post(ann, '1'), await post(ann, '2'), await post(ann, '3')];
    const everybody = '00000000-0000-0000-0000-000000000000';
    await mention(one, ben.id);
    await mention(one, everybody);
    await mention(two, everybody);
    await mention(three, ann.id);
    expect(await news(ben)).toMatchObject({ unread_count: 3, mention_count: 2 });
    await read(ben, { last_read_at: one.created_at });
    expect(await news(ben)).toMatchObject({ unread_count: 2, mention_count: 1 });
  });

  it('are counted to a hundred, which clients show as 99+', async () => {
    await server.database.query(
      `insert into message (channel_id, id, user_id, content, data, meta, created_at, updated_at)
       select $1, gen_random_uuid(), $2, 'x', '{}', '{}', t, t
         from (select (extract(epoch from now()) * 1000000)::bigint * 1000 + n * 1000 as t from generate_series(1, 1200) n) x`,
      [channelId, ann.id],
    );
    await post(ann, 'newest');
    expect(await news(ben)).toMatchObject({ unread_count: 100 });
  });
});

describe('a read mark', () => {
  it('is set to the newest message by default, and never goes back', async () => {
    const [one, two] = [await post(ann, '1'), await post(ann, '2')];
    expect((await read(ben, { last_read_at: two.created_at })).body).toEqual({
      last_read_at: two.created_at,
    });
    expect((await read(ben, { last_read_at: one.created_at })).body).toEqual({
      last_read_at: two.created_at,
    });
    expect(await news(ben)).toMatchObject({ unread_count: 0, last_read_at: two.created_at });
    const { last_read_at } = (await read(ben)).body;
    expect(last_read_at).toBeGreaterThan(two.created_at);
  });

  it('does not hide later messages', async () => {
    await read(ben, { last_read_at: 8_000_000_000_000_000_000 });
    await post(ann, 'later');
    expect(await news(ben)).toMatchObject({ unread_count: 1 });
  });

  it('that is set by many at once is the latest', async () => {
    const messages = [];
    for (let n = 0; n < 6; n += 1) messages.push(await post(ann, `${n}`));
    const marks = messages.map(({ created_at }) => read(ben, { last_read_at: created_at }));
    expect((await Promise.all(marks)).map(({ status }) => status)).toEqual(marks.map(() => 200));
    expect(await news(ben)).toMatchObject({ unread_count: 0, last_read_at: messages.at(-1).created_at });
  });

  it('belongs to its reader, and reading messages does not set it', async () => {
    await post(ann, '1');
    await as(ben)(`GET /channels/${channelId}/messages`);
    expect(await news(ben)).toMatchObject({ unread_count: 1 });
    await read(ann);
    expect(await news(ben)).toMatchObject({ unread_count: 1, last_read_at: null });
  });

  it.each([
    ['a text', 'now'],
    ['a fraction', 1.5],
    ['a negative time', -1],
    ['a time out of range', 1e30],
  ])('is refused as %s', async (_what, last_read_at) => {
    expect((await read(ben, { last_read_at })).status).toBe(400);
  });

  it('and the notification level require read access', async () => {
    await as(admin)(`POST /channels/${channelId}/update`, { access_grants: [] });
    const notify = (id: string) => as(ben)(`POST /channels/${id}/notify`, { level: 'none' });
    expect((await read(ben)).status).toBe(403);
    expect((await notify(channelId)).status).toBe(403);
    expect((await notify(NOBODY)).status).toBe(404);
    expect((await server.call(`POST /channels/${channelId}/read`, { body: {} })).status).toBe(401);
    const rows = await server.database.query('select from channel_reader where channel_id = $1', [channelId]);
    expect(rows).toEqual([]);
  });
});

it('in a channel that is deleted at the same moment answers 404', async () => {
  for (let round = 0; round < 8; round += 1) {
    const { id } = (
      await as(ann)('POST /channels/create', { type: 'group', name: 'short', user_ids: [ben.id] })
    ).body;
    const notes = () => [
      as(ben)(`POST /channels/${id}/read`, {}),
      as(ben)(`POST /channels/${id}/notify`, { level: 'none' }),
      as(ben)(`POST /channels/${id}/members/active`, { is_active: false }),
    ];
    const answers = await Promise.all([
      ...notes(),
      as(ann)(`DELETE /channels/${id}/delete`),
      ...notes(),
      ...notes(),
    ]);
    for (const { status } of answers) expect([200, 404]).toContain(status);
  }
});

it('the notification level decides only what the totals count', async () => {
  const totals = async () => (await as(ben)('GET /channels/unread')).body;
  await as(ben)(`POST /channels/${channelId}/notify`, { level: 'none' });
  const before = await totals();
  await post(ann, '1');
  await post(ann, '2');
  expect(await totals()).toEqual(before);
  const notify = (level: string) => as(ben)(`POST /channels/${channelId}/notify`, { level });
  expect((await notify('all')).body).toBe(true);
  expect(await totals()).toEqual({
    channel_count: before.channel_count + 1,
    unread_count: before.unread_count + 2,
    mention_count: before.mention_count,
  });
  await notify('mentions');
  expect(await totals()).toEqual(before);
  expect(await news(ben)).toMatchObject({ unread_count: 2, notify: 'mentions' });
  const mute = async (is_channel_muted: unknown) => {
    const { status, body } = await as(ben)(`POST /channels/${channelId}/members/mute`, { is_channel_muted });
    return [
      status,
      body.is_channel_muted,
      (await as(ben)(`GET /channels/${channelId}`)).body.is_channel_muted,
    ];
  };
  expect(await mute(false)).toEqual([200, false, false]);
  expect(await mute(null)).toEqual([400, undefined, false]);
  expect(await mute(true)).toEqual([200, true, true]);
  expect((await news(ben)).notify).toBe('mentions');
  expect((await notify('loud')).status).toBe(400);
});

it('500 channels with unread messages are counted in one statement', async () => {
  await server.database.query(
    `with made as (
       insert into channel (id, user_id, type, name, created_at, updated_at, last_message_at)
       select gen_random_uuid(), $1, case when n % 2 = 0 then 'dm' else 'group' end, n::text, 1000, 1000, 2000
         from generate_series(1, 500) n returning id
     ), joined as (
       insert into channel_member (channel_id, user_id, joined_at)
       select id, member, 1000 from made, unnest($2::uuid[]) as member
     )
     insert into message (channel_id, id, user_id, content, data, meta, created_at, updated_at)
     select id, gen_random_uuid(), $1, 'x', '{}', '{}', 2000, 2000 from made`,
    [ann.id, [ann.id, ben.id]],
  );
  for (const request of ['GET /channels', 'GET /channels/list', 'GET /channels/unread']) {
    await as(ben)(request);
    const statements = await recordStatements(async () => {
      expect((await as(ben)(request)).status).toBe(200);
    });
    // The server sometimes runs statements of its own, on other tables.
    expect(statements.filter((text) => /\bchannel\b|channel_member|\bmessage\b/.test(text))).toEqual([
      expect.stringContaining('channel_reader'),
    ]);
  }
  const list = (await as(ben)('GET /channels')).body;
  const made = list.filter(({ last_message_at }: { last_message_at: number }) => last_message_at === 2000);
  expect(made).toHaveLength(500);
  for (const { unread_count, type, users } of made) {
    expect(unread_count).toBe(1);
    expect(users?.length).toBe(type === 'dm' ? 2 : undefined);
  }
});
