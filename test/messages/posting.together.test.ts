import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { spawnMain } from '../support/process.ts';
import { call, PASSWORD, signUp, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';

/* Posts that arrive together are stored by one statement. Only the speed may differ. */

let channelIds: string[];

// In one test the database refuses a post, which logs errors.
const server = await startServer({ env: { LOG_LEVEL: 'fatal' } });
afterAll(() => server.close());
const owner = await signUp(server, 'Owner');
beforeEach(async () => {
  channelIds = await Promise.all(times(4, () => createChannel()));
});

const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));
const as = (request: string, body?: unknown) => server.call(request, { token: owner.token, body });
const createChannel = async (): Promise<string> =>
  (await as('POST /channels/create', { name: 'busy' })).body.id;
const post = (channelId: string | undefined, body: object) =>
  as(`POST /channels/${channelId}/messages/post`, body);

const untilPostWaits = () =>
  until('the post to wait', async () => {
    const [row] = await server.database.query<{ count: number }>(
      `select count(*)::int as count from pg_locks join pg_stat_activity using (pid)
        where not granted and transactionid is not null and datname = current_database()`,
    );
    return row?.count;
  });

interface Sent {
  content: string;
  parent_id?: string;
  reply_to_id?: string;
  temp_id?: string;
}

/** The contents in the order of the log; checks that the log has no gap. */
async function logged(channelId: string | undefined): Promise<string[]> {
  const events = await server.database.query<{ id: number; type: string; content: string }>(
    `select id::int, type, data->>'content' as content from channel_event where channel_id = $1 order by id`,
    [channelId],
  );
  expect(events.map(({ id }) => id)).toEqual(events.map((_, n) => n + 1));
  return events.filter(({ type }) => type === 'message').map(({ content }) => content);
}

describe('posts that arrive together', () => {
  it('share statements, and each gets its own answer', async () => {
    const [held, elsewhere] = channelIds;
    const answers: Awaited<ReturnType<typeof post>>[] = [];
    const statements = await recordStatements(() =>
      withClient(server.database.url, async (client) => {
        // The first post waits for the lock on its channel, so the others are gathered on a machine of any
        // speed.
        await client.query('begin');
        await client.query('select from channel where id = $1 for update', [held]);
        const first = post(held, { content: '0' });
        await untilPostWaits();
        const others = times(39, (n) => post(held, { content: String(n + 1) }));
        expect((await post(elsewhere, { content: 'after them' })).status).toBe(200);
        await client.query('commit');
        answers.push(...(await Promise.all([first, ...others])));
      }),
    );
    // One statement for the first, one for the other channel, and one or a few for the rest, since some may
    // come late.
    expect(statements.filter((text) => text.includes('insert into message ')).length).toBeLessThan(20);
    for (const [n, { status, body }] of answers.entries()) {
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { content: String(n), channel_id: held },
      });
    }
    expect(await logged(held)).toHaveLength(40);
  });

  it('may be of different kinds', async () => {
    const [channelId] = channelIds;
    const root = (await post(channelId, { content: 'root' })).body.id;
    const kinds = [
      {},
      { temp_id: 'first' },
      { parent_id: root },
      { reply_to_id: root },
      { parent_id: root, reply_to_id: root, temp_id: 'second' },
    ];
    const sent = times(30, (n): Sent => ({ content: String(n), ...kinds[n % kinds.length] }));
    const answers = await Promise.all(sent.map((body) => post(channelId, body)));
    const made = new Map<string, Record<string, unknown>>();
    for (const [n, { status, body }] of answers.entries()) {
      const { content, parent_id = null, reply_to_id = null, temp_id = null } = sent[n] ?? { content: '' };
      expect({ status, body }).toMatchObject({ status: 200, body: { parent_id, reply_to_id, temp_id } });
      expect(body.reply_to_message?.id ?? null).toBe(reply_to_id);
      if (temp_id === null) expect(body.content).toBe(content);
      made.set(body.id, { ...body, temp_id: undefined });
    }
    // One for each temp_id.
    expect(made.size).toBe(3 * 6 + 2);
    for (const [id, message] of made) {
      const { body } = await as(`GET /channels/${channelId}/messages/${id}`);
      expect({ ...body, temp_id: undefined }).toEqual(message);
    }
    expect(new Set(await logged(channelId)).size).toBe(1 + made.size);
    expect((await as(`GET /channels/${channelId}/messages/${root}`)).body.reply_count).toBe(6 + 1);
  });

  it('are stored despite one that is refused for any reason', async () => {
    await server.database.query(`alter table message add constraint no_bad check (content <> 'bad')`);
    const nowhere = '018f0000-0000-7000-8000-000000000000';
    const wrong = [
      { to: nowhere, body: { content: 'x' }, status: 404 },
      { to: channelIds[0], body: { content: 'x', parent_id: nowhere }, status: 400 },
      { to: channelIds[1], body: { content: 'x', reply_to_id: nowhere }, status: 400 },
      { to: channelIds[2], body: { content: 'bad' }, status: 500 },
    ];
    try {
      const right = times(36, (n) => ({ to: channelIds[n % 4], body: { content: String(n) }, status: 200 }));
      const all = right.flatMap((one, n) => (n % 9 === 4 ? [one, wrong[Math.floor(n / 9)] ?? one] : [one]));
      const answers = await Promise.all(all.map(({ to, body }) => post(to, body)));
      expect(answers.map(({ status }) => status)).toEqual(all.map(({ status }) => status));
    } finally {
      await server.database.query('alter table message drop constraint no_bad');
    }
    for (const channelId of channelIds) expect(await logged(channelId)).toHaveLength(9);
  });

  it('wait for a locked channel only when they go there', async () => {
    const [held, ...free] = channelIds;
    await withClient(server.database.url, async (client) => {
      await client.query('begin');
      await client.query('select from channel where id = $1 for update', [held]);
      let waited = 0;
      const waiting = times(10, (n) => post(held, { content: String(n) }).finally(() => (waited += 1)));
      for (let round = 0; round < 5; round += 1) {
        const answers = await Promise.all(times(12, (n) => post(free[n % 3], { content: String(n) })));
        expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
      }
      expect(waited).toBe(0);
      await client.query('commit');
      expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    });
    expect((await logged(held)).sort()).toEqual(times(10, String));
    for (const channelId of free) expect(await logged(channelId)).toHaveLength(20);
  });

  it('are answered with 404 when the channel is deleted while they wait', async () => {
    const [held] = channelIds;
    await withClient(server.database.url, async (client) => {
      await client.query('begin');
      await client.query('delete from channel where id = $1', [held]);
      const waiting = Promise.all([post(held, { content: 'a' }), post(channelIds[1], { content: 'b' })]);
      await untilPostWaits();
      await client.query('commit');
      expect((await waiting).map(({ status }) => status)).toEqual([404, 200]);
    });
  });

  it('count replies of the same thread one by one, in the order of their numbers', async () => {
    const [channelId] = channelIds;
    const root = (await post(channelId, { content: 'root' })).body.id;
    const replies = times(30, (n) => post(channelId, { content: String(n), parent_id: root }));
    expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(30).fill(200));
    const events = await server.database.query<{ count: number; latest: string; at: string }>(
      `select (data->>'reply_count')::int as count, data->>'latest_reply_at' as latest, created_at::text as at
         from channel_event where channel_id = $1 and type = 'message:reply' order by id`,
      [channelId],
    );
    expect(events.map(({ count }) => count)).toEqual(times(30, (n) => n + 1));
    for (const { latest, at } of events) expect(latest).toBe(at);
    await logged(channelId);
  });
});

describe('a server that is killed', () => {
  it('has stored every acknowledged message, with each number exactly once', async () => {
    const database = await createDatabase();
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-test-'));
    const main = spawnMain({ DATA_DIR, DATABASE_URL: database.url, LOG_LEVEL: 'error' });
    try {
      const url = await main.ready();
      const account = { email: 'owner@example.com', name: 'Owner', password: PASSWORD };
      const { token } = (await call(url, 'POST /auths/signup', { body: account })).body;
      const made = await call(url, 'POST /channels/create', { token, body: { name: 'x' } });
      const channelId = made.body.id;
      const acknowledged: string[] = [];
      const clients = times(16, async (n) => {
        for (let turn = 0; ; turn += 1) {
          const body = { content: `${n} ${turn}` };
          const answer = await call(url, `POST /channels/${channelId}/messages/post`, { token, body });
          expect(answer.status).toBe(200);
          acknowledged.push(answer.body.id);
        }
      });
      const ends = Promise.allSettled(clients);
      await until('some messages', () => acknowledged.length > 200);
      await main.stop('SIGKILL');
      await ends;

      // PostgreSQL finishes the statements that ran at that moment.
      await until('the last statement', async () => {
        const [row] = await database.query<{ count: number }>(
          `select count(*)::int as count from pg_stat_activity where application_name = 'parley' and datname = current_database()`,
        );
        return row?.count === 0;
      });
      const stored = await database.query<{ id: string }>('select id from message where channel_id = $1', [
        channelId,
      ]);
      const ids = new Set(stored.map(({ id }) => id));
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
      const events = await database.query<{ id: number }>(
        'select id::int from channel_event where channel_id = $1 order by id',
        [channelId],
      );
      expect(events.map(({ id }) => id)).toEqual(events.map((_, n) => n + 1));
    } finally {
      await main.stop('SIGKILL');
      await database.drop();
      await rm(DATA_DIR, { recursive: true, force: true });
    }
  });
});
