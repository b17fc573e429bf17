import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { signUp, startServer } from '../support/server.ts';

/*
 * The log of a channel has no gaps and no duplicates, and the counters of threads are right under concurrent
 * changes.
 */

let channelId: string;

// One test breaks the database on purpose, which fills the log with errors.
const server = await startServer({ env: { LOG_LEVEL: 'fatal' } });
afterAll(() => server.close());
const owner = await signUp(server, 'Owner');
beforeEach(async () => {
  channelId = (await call('POST /channels/create', { name: 'busy' })).body.id;
});

const call = (request: string, body?: unknown) => server.call(request, { token: owner.token, body });
const post = (body: Record<string, unknown>) => call(`POST /channels/${channelId}/messages/post`, body);
const edit = (id: string, content: string) =>
  call(`POST /channels/${channelId}/messages/${id}/update`, { content });
const remove = (id: string) => call(`DELETE /channels/${channelId}/messages/${id}/delete`);
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

interface Logged {
  id: number;
  type: string;
  message_id: string;
  created_at: string;
  data: { content: string; reply_count: number; data: Record<string, unknown> };
}

/** The events of the channel after its creation; checks that they have no gaps and are in order of time. */
async function readLog(): Promise<Logged[]> {
  const events = await server.database.query<Logged>(
    'select id::int, type, message_id, created_at::text, data from channel_event where channel_id = $1 order by id',
    [channelId],
  );
  expect(events.map(({ id }) => id)).toEqual(times(events.length, (n) => n + 1));
  const [channel] = await server.database.query<{ last_event: number }>(
    'select last_event::int from channel where id = $1',
    [channelId],
  );
  expect(channel?.last_event).toBe(events.length);
  for (const { created_at } of events) expect(BigInt(created_at) % 1000n).toBe(0n);
  expect(events[0]?.type).toBe('channel:created');
  return events.slice(1);
}

describe('simultaneous posts', () => {
  it('get strictly increasing times and numbers in the same order', async () => {
    const answers = await Promise.all(times(50, (n) => post({ content: String(n) })));
    expect(answers.map(({ status }) => status)).toEqual(times(50, () => 200));
    const log = await readLog();
    expect(log).toHaveLength(50);
    const moments = log.map(({ created_at }) => BigInt(created_at));
    for (const [n, moment] of moments.entries()) {
      if (n > 0) expect(moment).toBeGreaterThan(moments[n - 1] ?? 0n);
    }
    const listed = (await call(`GET /channels/${channelId}/messages?limit=200`)).body;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual(
      log.map(({ message_id }) => message_id).reverse(),
    );
    const posted = new Map(answers.map(({ body }) => [body.id, body.created_at]));
    for (const { id, created_at } of listed) expect(created_at).toBe(posted.get(id));
  });

  it('leave no gap when some of them fail', async () => {
    const nowhere = '018f0000-0000-7000-8000-000000000000';
    const answers = await Promise.all(
      times(40, (n) => post({ content: 'x', ...(n % 2 === 0 && { parent_id: nowhere }) })),
    );
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(20);
    expect(await readLog()).toHaveLength(20);
  });

  it('count every reply', async () => {
    const root = (await post({ content: 'root' })).body.id;
    await Promise.all(times(30, () => post({ content: 'reply', parent_id: root })));
    const log = await readLog();
    const counts = log.filter(({ type }) => type === 'message:reply').map(({ data }) => data.reply_count);
    expect(counts).toEqual(times(30, (n) => n + 1));
    expect((await call(`GET /channels/${channelId}/messages/${root}`)).body.reply_count).toBe(30);
  });
});

describe('changes at the same moment', () => {
  it('edits: each has its event, and the last event has the stored content', async () => {
    const { id } = (await post({ content: 'x' })).body;
    await Promise.all(times(10, (n) => edit(id, String(n))));
    const log = await readLog();
    expect(log).toHaveLength(11);
    const stands = (await call(`GET /channels/${channelId}/messages/${id}`)).body;
    expect(log.map(({ data }) => data.content)).toEqual(Array(11).fill(stands.content));
  });

  it('edits that merge data keep the members of each other', async () => {
    const { id } = (await post({ content: 'x' })).body;
    const request = `POST /channels/${channelId}/messages/${id}/update`;
    await Promise.all(times(10, (n) => call(request, { content: 'x', data: { [`m${n}`]: n } })));
    const { data } = (await call(`GET /channels/${channelId}/messages/${id}`)).body;
    expect(Object.keys(data).filter((name) => name !== 'files')).toHaveLength(10);
    await readLog();
  });

  it('two deletions: one answers true, the other 404', async () => {
    const { id } = (await post({ content: 'x' })).body;
    const statuses = (await Promise.all([remove(id), remove(id), edit(id, 'y')])).map(({ status }) => status);
    expect(statuses.slice(0, 2).sort()).toEqual([200, 404]);
    expect([200, 404]).toContain(statuses[2]);
    const types = (await readLog()).map(({ type }) => type);
    expect(types.filter((type) => type === 'message:delete')).toHaveLength(1);
    expect(types.at(-1)).toBe('message:delete');
  });

  it('a deletion and replies: a reply is refused, or its root becomes a tombstone', async () => {
    for (let round = 0; round < 15; round += 1) {
      const root = (await post({ content: 'root' })).body.id;
      const [deletion, ...replies] = await Promise.all([
        remove(root),
        post({ content: 'a', parent_id: root }),
        post({ content: 'b', parent_id: root, reply_to_id: root }),
      ]);
      expect(deletion?.status).toBe(200);
      const accepted = replies.filter(({ status }) => status === 200);
      for (const { status } of replies) expect([200, 400]).toContain(status);
      const answer = await call(`GET /channels/${channelId}/messages/${root}`);
      if (accepted.length === 0) expect(answer.status).toBe(404);
      else {
        const tombstone = { reply_count: accepted.length, content: '', meta: { deleted: true } };
        expect(answer).toMatchObject({ status: 200, body: tombstone });
      }
    }
    await readLog();
  });

  it('deletions of all replies of a thread leave a count of zero', async () => {
    const root = (await post({ content: 'root' })).body.id;
    const replies = await Promise.all(times(10, () => post({ content: 'r', parent_id: root })));
    const statuses = await Promise.all([remove(root), ...replies.map(({ body }) => remove(body.id))]);
    expect(statuses.map(({ status }) => status)).toEqual(times(11, () => 200));
    expect((await call(`GET /channels/${channelId}/messages`)).body).toEqual([]);
    expect(
      await server.database.query('select from message where channel_id = $1', [channelId]),
    ).toHaveLength(0);
    await readLog();
  });

  it('a deletion of the channel and posts: each post is stored before it or answered with 404', async () => {
    const posts = times(20, (n) => post({ content: String(n) }));
    const deletion = await call(`DELETE /channels/${channelId}/delete`);
    expect(deletion.status).toBe(200);
    for (const { status } of await Promise.all(posts)) expect([200, 404]).toContain(status);
    expect(
      await server.database.query('select from message where channel_id = $1', [channelId]),
    ).toHaveLength(0);
  });
});

describe('a change that fails half way', () => {
  it('gives its number back: an edit, a deletion and a post that the database refuses', async () => {
    const { id } = (await post({ content: 'x' })).body;
    // Writing to the log fails, as with a full disk or a lost connection, at the last possible moment.
    await server.database.query('alter table channel_event add constraint broken check (id < 3) not valid');
    try {
      for (const answer of [await edit(id, 'y'), await remove(id), await post({ content: 'z' })]) {
        expect(answer).toMatchObject({ status: 500, body: { code: 'internal' } });
      }
    } finally {
      await server.database.query('alter table channel_event drop constraint broken');
    }
    expect(await readLog()).toHaveLength(1);
    expect((await call(`GET /channels/${channelId}/messages`)).body).toMatchObject([{ id, content: 'x' }]);
    expect((await edit(id, 'y')).status).toBe(200);
    expect(await readLog()).toHaveLength(2);
  });
});
