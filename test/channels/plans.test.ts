import type { PoolClient } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { listReadable } from '../../src/channelbase/channels.access.repository.ts';
import { listAllChannels, listOwnChannels } from '../../src/channels/channels.views.repository.ts';
import { readEvents, readPositions, readRecentHeads } from '../../src/channels/events/events.repository.ts';
import { type Database, runner } from '../../src/database/sql.ts';
import { REWRITE, REWRITE_EDITED, UNCOUNT } from '../../src/messages/messages.changes.repository.ts';
import { listMessages, listPinned, listThread } from '../../src/messages/messages.lists.repository.ts';
import { readMessage } from '../../src/messages/messages.repository.ts';
import { readTotals } from '../../src/reads/reads.repository.ts';
import { searchMessages } from '../../src/search/search.repository.ts';
import { readThreads } from '../../src/threads/threads.repository.ts';
import { createDatabase, withClient } from '../support/database.ts';

/*
 * The cost of a read may depend on the number of its results, not on the amount of data. Without the right
 * index, the planner would read whole tables of this database; the tests check that it never does.
 */

const database = await createDatabase();
afterAll(() => database.drop());
const { query } = database;

const uuid = (kind: number, n: number) => `018f000${kind}-0000-7000-8000-${String(n).padStart(12, '0')}`;
const [person, busy, quiet, root] = [uuid(0, 1), uuid(1, 1), uuid(1, 2), uuid(2, 10)];
const caller = { id: person, role: 'user' };

/**
 * 40,000 messages in one channel and 20 in each of 300; a tenth are replies, a thousandth are pinned; each
 * has an event and a mention.
 */
await query(`
  with n as (select n from generate_series(1, 50) n)
  insert into users (id, email, name, role, profile_image_url, last_active_at, updated_at, created_at)
  select ('018f0000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, n || '@example.com', n, 'user', '', 0, 0, 0 from n`);
await query(
  `
  insert into channel (id, user_id, name, created_at, updated_at, last_event, last_event_at, last_message_at)
  select ('018f0001-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, n, 1, 1, 40000, 40000000, 40000000
    from generate_series(1, 301) n`,
  [person],
);
await query(`
  insert into message (channel_id, id, user_id, content, parent_id, is_pinned, pinned_at, data, meta, reply_count, has_thread,
                       latest_reply_at, created_at, updated_at)
  select ('018f0001-0000-7000-8000-' || lpad((case when n <= 40000 then 1 else 2 + n % 300 end)::text, 12, '0'))::uuid,
         ('018f0002-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
         ('018f0000-0000-7000-8000-' || lpad((1 + n % 50)::text, 12, '0'))::uuid,
         'the word ' || n || case when n % 5000 = 0 then ' seldom' else '' end,
         case when n <= 40000 and n % 10 = 1 and n > 10
              then ('018f0002-0000-7000-8000-' || lpad((10 + n % 40)::text, 12, '0'))::uuid end,
         n % 1000 = 0, case when n % 1000 = 0 then n * 1000 end, '{}', '{}',
         case when n <= 50 then 100 else 0 end, n <= 50, case when n <= 50 then 40000000 end, n * 1000, n * 1000
    from generate_series(1, 46000) n`);
await query(`
  insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
  select channel_id, created_at / 1000, 'message', id, '{}', '{}', created_at from message`);
await query(`
  insert into message_mention (channel_id, message_id, user_id, created_at)
  select channel_id, id, user_id, created_at from message`);
/** Messages of 2,000 other people to each other. */
await query(`
  insert into users (id, email, name, role, profile_image_url, last_active_at, updated_at, created_at)
  select ('018f0000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, n || '@example.com', n, 'user', '', 1, 1, 1
    from generate_series(51, 2050) n`);
await query(
  `
  insert into channel (id, user_id, type, name, created_at, updated_at, last_event_at, last_message_at)
  select ('018f0003-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, 'dm', '', 1, 1, 40000000, 40000000
    from generate_series(1, 20000) n`,
  [uuid(0, 51)],
);
await query(`
  insert into channel_member (channel_id, user_id, joined_at)
  select ('018f0003-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
         ('018f0000-0000-7000-8000-' || lpad((51 + n * k % 2000)::text, 12, '0'))::uuid, 1
    from generate_series(1, 20000) n, generate_series(1, 2) k on conflict do nothing`);
/** A member who may read only one of the channels. */
const reader = { id: uuid(0, 50), role: 'user' };
await query(
  `insert into access_grant (id, resource_type, resource_id, principal_type, principal_id, permission, created_at)
   values (gen_random_uuid(), 'channel', $1, 'user', $2, 'read', 1)`,
  [quiet, reader.id],
);
// The planner uses index-only scans only after a vacuum.
await query('vacuum (analyze) message, message_mention');
await query('analyze');

interface Asked {
  text: string;
  values: readonly unknown[];
  /** True when PostgreSQL may keep a generic plan for it, without values. */
  isPrepared: boolean;
}

/** The statements that a function of a repository sends. */
async function asked(ask: (sql: Database) => Promise<unknown>): Promise<Asked[]> {
  const found: Asked[] = [];
  const client = {
    async query(sent: string | { name: string; text: string; values: unknown[] }) {
      // `begin` and `commit` are strings.
      if (typeof sent !== 'string') found.push({ ...sent, isPrepared: sent.name !== '' });
      return { rows: [] };
    },
    release: () => {},
  } as unknown as PoolClient;
  const one = runner(client);
  const sql: Database = {
    ...one,
    on: () => one,
    read: (work) => work(client as never, one),
    connect: async () => client,
    fork: () => expect.unreachable(),
  };
  // The function may fail, since it gets no rows.
  await ask(sql).catch(() => undefined);
  return found;
}

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  Plans?: Node[];
}

const walk = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(walk)];

/** Runs the statements and returns the scans of a table by the last one that were executed. */
function scansOf(statements: Asked[], table: string): Promise<Node[]> {
  return withClient(database.url, async (client) => {
    await client.query('begin');
    for (const { text, values } of statements.slice(0, -1)) await client.query(text, [...values]);
    const { text = '', values = [] } = statements.at(-1) ?? {};
    const { rows } = await client.query(`explain (analyze, format json) ${text}`, [...values]);
    const nodes = walk(rows[0]['QUERY PLAN'][0].Plan);
    return nodes.filter((node) => node['Relation Name'] === table && node['Actual Loops']);
  });
}

/** The plans of a statement with its values and, when PostgreSQL may keep one, the generic plan. */
function plansOf(before: Asked[], { text, values, isPrepared }: Asked): Promise<Node[][]> {
  return withClient(database.url, async (client) => {
    const explain = async (how: string, given: readonly unknown[]) => {
      const { rows } = await client.query(`explain (${how}, format json) ${text}`, [...given]);
      return walk(rows[0]['QUERY PLAN'][0].Plan);
    };
    await client.query('begin');
    for (const setting of before) await client.query(setting.text);
    return [await explain('costs', values), ...(isPrepared ? [await explain('generic_plan', [])] : [])];
  });
}

const page = { limit: 50, skip: 0 };
/** A message in the middle of the channel, and a reply to the root. */
const [middle, reply] = [uuid(2, 20_000), uuid(2, 20_000 + 1 - 40)];
/** The windows of a list, each with the most messages that it reads beside those of the page. */
const WINDOWS: [string, (sql: Database) => Promise<unknown>][] = [
  ['before a message', (sql) => listMessages(sql, caller, busy, { ...page, before: middle })],
  ['after a message', (sql) => listMessages(sql, caller, busy, { ...page, after: middle })],
  ['around a message', (sql) => listMessages(sql, caller, busy, { ...page, around: middle })],
  ['around a reply', (sql) => listMessages(sql, caller, busy, { ...page, around: reply })],
  ['around a time', (sql) => listMessages(sql, caller, busy, { ...page, at: 20_000_000 })],
  ['around a time to come', (sql) => listMessages(sql, caller, busy, { ...page, at: 10 ** 12 })],
];
const everything = { isOpen: false, channel_id: null, from: null, before: null, after: null, ...page };

/** Each read with the indexes that it needs. */
const READS: [string, string[], (sql: Database) => Promise<unknown>][] = [
  ['the main line', ['message_main_line'], (sql) => listMessages(sql, caller, busy, page)],
  [
    'its 10,000th page',
    ['message_main_line'],
    (sql) => listMessages(sql, caller, busy, { limit: 2, skip: 20_000 }),
  ],
  ['a thread', ['message_thread'], (sql) => listThread(sql, caller, busy, root, page)],
  ...WINDOWS.map(([name, ask]): [string, string[], typeof ask] => [
    `a window ${name}`,
    ['message_main_line'],
    ask,
  ]),
  [
    'a window of a thread',
    ['message_thread'],
    (sql) => listThread(sql, caller, busy, root, { ...page, around: reply }),
  ],
  ['the pinned messages', ['message_pinned'], (sql) => listPinned(sql, caller, busy, page)],
  ['one message', ['message_pkey'], (sql) => readMessage(sql, caller, busy, root)],
  [
    'the threads of a person',
    ['message_began', 'message_replied', 'message_pkey'],
    (sql) => readThreads(sql, caller, { unread: false, ...page }),
  ],
  [
    'the threads with unread replies',
    ['message_began', 'message_replied', 'message_thread'],
    (sql) => readThreads(sql, caller, { unread: true, ...page }),
  ],
  ['the readable channels', ['channel_pkey'], (sql) => listReadable(sql, caller, null)],
  [
    'the readable channels with events since a moment',
    ['channel_pkey'],
    (sql) => readRecentHeads(sql, caller, '39000000'),
  ],
  ['the list of channels', ['message_time', 'message_mention_user'], (sql) => listOwnChannels(sql, caller)],
  [
    'the totals of unread messages',
    ['message_time', 'message_mention_user'],
    (sql) => readTotals(sql, caller),
  ],
  [
    'a search for a frequent word',
    ['message_moment', 'message_search'],
    (sql) => searchMessages(sql, caller, { ...everything, q: 'word' }),
  ],
  [
    'a search for a rare word',
    ['message_moment', 'message_search'],
    (sql) => searchMessages(sql, caller, { ...everything, q: 'seldom' }),
  ],
  [
    'a search in one channel',
    ['message_time'],
    (sql) => searchMessages(sql, caller, { ...everything, q: 'seldom', channel_id: quiet }),
  ],
  [
    'a search for own messages',
    ['message_moment', 'message_user_id_index'],
    (sql) => searchMessages(sql, caller, { ...everything, q: 'word', from: person }),
  ],
  ['the events after a number', ['channel_event_pkey'], (sql) => readEvents(sql, busy, 39_000, 100)],
  [
    'the positions of channels at a moment',
    ['channel_event_pkey'],
    (sql) => readPositions(sql, [busy, quiet], '39000000'),
  ],
  [
    'the changes of a deletion in the log',
    ['channel_event_message'],
    (sql) => sql.rows(REWRITE, { channelId: busy, messageId: root, own: '{}', quoted: '{}' }),
  ],
  [
    'the changes of an edit in the log',
    ['channel_event_message'],
    (sql) => sql.rows(REWRITE_EDITED, { channelId: busy, messageId: root }),
  ],
  [
    'the count of replies',
    ['message_thread', 'message_pkey'],
    (sql) => sql.rows(UNCOUNT, { channelId: busy, messageId: root }),
  ],
];

describe.each(READS)('%s', (_name, indexes, ask) => {
  it(`uses ${indexes.join(', ')}`, async () => {
    const statements = await asked(ask);
    const settings = statements.filter(({ text }) => text.includes('set_config'));
    const reads = statements.filter(({ text }) => !text.includes('set_config'));
    expect(reads).toHaveLength(1);
    for (const read of reads) {
      const plans = await plansOf(settings, read);
      for (const nodes of plans) {
        const used = nodes.flatMap((node) => node['Index Name'] ?? []);
        expect(used).toEqual(expect.arrayContaining(indexes));
        const whole = nodes
          .filter((node) => node['Node Type'] === 'Seq Scan')
          .map((node) => node['Relation Name']);
        expect(whole).not.toContain('message');
        expect(whole).not.toContain('channel_event');
        // For a reader of many of the channels, a sequential scan is the fastest way to list them.
        if (indexes.includes('channel_pkey')) expect(whole).not.toContain('channel');
      }
    }
  });
});

describe('a window', () => {
  it.each(WINDOWS)('reads its own messages and few others: %s', async (_where, ask) => {
    const scans = await scansOf(await asked(ask), 'message');
    const read = scans.map((node) => (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0));
    expect(read.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(60);
  });
});

describe('unread messages are counted', () => {
  it.each([
    ['in the list of channels', listOwnChannels],
    ['in the list of all channels', listAllChannels],
    ['in the totals', readTotals],
  ])(
    'by at most a hundred index entries for each channel, without reading messages: %s',
    async (_where, ask) => {
      const statements = await asked((sql) => ask(sql, caller));
      const mentions = await scansOf(statements, 'message_mention');
      const messages = await scansOf(statements, 'message');
      expect(messages.map((node) => node['Index Name'])).toEqual(['message_time', 'message_by_program']);
      expect(mentions.map((node) => node['Index Name'])).toEqual(Array(2).fill('message_mention_user'));
      for (const node of [...mentions, ...messages]) expect(node['Actual Rows']).toBeLessThanOrEqual(100);
      for (const node of [...mentions, messages[0]]) expect(node?.['Node Type']).toBe('Index Only Scan');
    },
  );
});

describe('a search for a word of nearly all messages', () => {
  it.each([
    ['all channels', caller],
    ['one of hundreds of channels', reader],
  ])('stops when its page is full, for a reader of %s', async (_which, who) => {
    const statements = await asked((sql) => searchMessages(sql, who, { ...everything, q: 'word' }));
    const scans = await scansOf(statements, 'message');
    const read = scans.reduce(
      (sum, node) => sum + (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0),
      0,
    );
    expect(read).toBeLessThan(1000);
    expect(scans.map((node) => node['Index Name'])).not.toContain('message_search');
  });
});
