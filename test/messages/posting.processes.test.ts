import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Pair, startPair } from '../support/pair.ts';
import { until } from '../support/poll.ts';
import { withoutRedis } from '../support/redis.ts';
import { type Person, signUp, startServer, type TestServer } from '../support/server.ts';

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** Each process gathers the posts that arrive at it; together they write one history. */
describe.skipIf(withoutRedis)('posting at two processes', () => {
  let pair: Pair;
  let servers: TestServer[];
  let root: Person;
  let channelIds: string[];

  beforeAll(async () => {
    pair = await startPair();
    servers = [pair.here, pair.there];
    root = await signUp(pair.here, 'Root');
  });
  afterAll(() => pair.close());
  beforeEach(async () => {
    const made = times(3, (n) => call(0, 'POST /channels/create', { name: String(n) }));
    channelIds = (await Promise.all(made)).map(({ body }) => body.id);
  });

  const at = (n: number) => servers[n % servers.length] as TestServer;
  const call = (n: number, request: string, body?: unknown) =>
    at(n).call(request, { token: root.token, body });
  const post = (n: number, channelId: string, body: Record<string, unknown>) =>
    call(n, `POST /channels/${channelId}/messages/post`, body);

  async function requireWholeLog(channelId: string) {
    const events = await pair.database.query<{
      id: number;
      type: string;
      message_id: string;
      at: string;
      replies: number;
    }>(
      `select id::int, type, message_id, created_at::text as at, (data->>'reply_count')::int as replies
         from channel_event where channel_id = $1 and message_id is not null order by id`,
      [channelId],
    );
    const first = events[0]?.id ?? 0;
    expect(events.map(({ id }) => id)).toEqual(events.map((_, n) => first + n));
    const stamps = events.filter(({ type }) => type === 'message').map(({ at: time }) => BigInt(time));
    for (const [n, stamp] of stamps.entries()) if (n > 0) expect(stamp).toBeGreaterThan(stamps[n - 1] ?? 0n);
    return events;
  }

  it('stores one message for a temp_id that both get at once', async () => {
    const [channelId = ''] = channelIds;
    for (let round = 0; round < 5; round += 1) {
      const body = { content: 'x', temp_id: `round ${round}` };
      const answers = await Promise.all(times(10, (n) => post(n, channelId, body)));
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    }
    expect(await requireWholeLog(channelId)).toHaveLength(5);
  });

  it('numbers the messages of both in the same channels without a gap, and counts every reply', async () => {
    const roots = await Promise.all(channelIds.map((id) => post(0, id, { content: 'root' })));
    const rootIds = roots.map(({ body }) => body.id as string);
    const each = times(120, (n) => {
      const channel = n % channelIds.length;
      const parent = n % 2 === 0 ? { parent_id: rootIds[channel] } : {};
      return post(n >> 2, channelIds[channel] ?? '', { content: String(n), temp_id: String(n), ...parent });
    });
    const answers = await Promise.all(each);
    expect(answers.map(({ status }) => status)).toEqual(Array(120).fill(200));
    for (const [n, channelId] of channelIds.entries()) {
      const events = await requireWholeLog(channelId);
      expect(events).toHaveLength(1 + 40 + 20);
      const counts = events.filter(({ type }) => type === 'message:reply').map(({ replies }) => replies);
      expect(counts).toEqual(times(20, (count) => count + 1));
      expect((await call(1, `GET /channels/${channelId}/messages/${rootIds[n]}`)).body.reply_count).toBe(20);
    }
  });

  it('deletes temp_ids after a day when a server starts', async () => {
    const [channelId = ''] = channelIds;
    const old = await post(0, channelId, { content: 'a', temp_id: 'old' });
    await post(0, channelId, { content: 'b', temp_id: 'new' });
    await pair.database.query(
      'update message_temp_id set created_at = created_at - $2::bigint where message_id = $1',
      [old.body.id, `${24 * 3600}000000000`],
    );
    const third = await startServer(pair);
    try {
      const known = () =>
        pair.database.query<{ temp_id: string }>(
          'select temp_id from message_temp_id where channel_id = $1',
          [channelId],
        );
      await until('the old one to be forgotten', async () => (await known()).length === 1);
      expect(await known()).toEqual([{ temp_id: 'new' }]);
    } finally {
      await third.close();
    }
  });

  it('a process that keeps a page shows a name that another one changed', async () => {
    const [id = ''] = channelIds;
    await post(0, id, { content: 'x' });
    const nameAt = async (n: number) => (await call(n, `GET /channels/${id}/messages`)).body[0].user.name;
    expect(await nameAt(0)).toBe('Root');
    await call(1, 'POST /auths/update/profile', { name: 'Ann', profile_image_url: '' });
    await until('the new name', async () => (await nameAt(0)) === 'Ann');
  });
});
