import pg from 'pg';
import type { Watched, WatchOptions, WatchTask } from '../load/watch.ts';
import { startChild } from '../support/child.ts';
import { startParley } from '../support/parley.ts';
import { plainResult, type Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';

/** Figures of a real installation. */
const CHANNELS = 300;
const MESSAGES = 1_000_000;
const PEOPLE = 10_000;

/**
 * The requests for the first screen of a client, for a user in very many channels with old unread messages.
 */
const LISTS = [
  ['channels', '/api/v1/channels'],
  ['every channel', '/api/v1/channels/list'],
  ['unread totals', '/api/v1/channels/unread'],
  ['search of a word in 89 % of messages', '/api/v1/channels/messages/search?q=import'],
  ['search of people', '/api/v1/users/search?query=person%2077'],
] as const;
const PER_SECOND = 20;

/** Measures lists of an administrator and of a member with 300 channels, 1,000,000 messages and 10,000 accounts. */
export async function lists({ cluster, quick }: Workspace): Promise<Result[]> {
  const databaseUrl = await cluster.createDatabase('lists');
  const parley = await startParley({ databaseUrl });
  try {
    await fill(databaseUrl, quick ? 60_000 : MESSAGES);
    const results: Result[] = [];
    const callers = { administrator: parley.administratorToken, member: parley.token };
    for (const [who, token] of Object.entries(callers)) {
      for (const [what, path] of LISTS) {
        // A process of its own: collecting the garbage of this one would count as time of the server.
        await using watcher = await startChild<string>('load/watch.ts', 'load', {
          url: parley.url,
          headers: { authorization: `Bearer ${token}` },
          paths: [path],
        } satisfies WatchOptions);
        const watch = async (seconds: number) => {
          const task: WatchTask = { seconds, perSecond: PER_SECOND };
          return (await watcher.ask<Record<string, Watched>>(task))[path];
        };
        await watch(1);
        const watched = await watch(quick ? 1 : 10);
        results.push(plainResult(`${what} (${who}), p50`, 'ms', watched?.p50 ?? Number.NaN));
        results.push(plainResult(`${what} (${who}), p99`, 'ms', watched?.p99 ?? Number.NaN, 30));
      }
    }
    return results;
  } finally {
    await parley.stop();
  }
}

/**
 * Makes channels of the administrator that the member may read, with messages of all people in turn; each
 * 97th mentions both.
 */
async function fill(databaseUrl: string, messages: number): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query(
      `insert into users (id, email, name, role, profile_image_url, last_active_at, created_at, updated_at)
       select gen_random_uuid(), i || '@people.org', 'Person ' || i, 'user', '', 0, 0, 0 from generate_series(1, ${PEOPLE}) i;
       create temporary table author as
         select row_number() over () as n, id from (select id from users where email like '%@people.org' limit 50) u;
       create temporary table place as select n, gen_random_uuid() as id from generate_series(0, ${CHANNELS - 1}) n;
       insert into channel (id, user_id, name, created_at, updated_at, last_event_at, last_message_at)
       select place.id, u.id, 'channel ' || n, 1, 1, t.at, t.at from place, users u,
              lateral (select 1790000000000000000 + ${messages} * 1000::bigint as at) t
        where u.email = 'administrator@example.com';
       insert into access_grant (id, resource_type, resource_id, principal_type, principal_id, permission, created_at)
       select gen_random_uuid(), 'channel', place.id::text, 'user', u.id::text, 'read', 1 from place, users u
        where u.email = 'member@example.com';
       insert into message (channel_id, id, user_id, content, parent_id, data, meta, created_at, updated_at)
       select place.id, md5(m.n::text)::uuid, author.id,
              case when m.n % 9 = 0 then 'The nightly run' else 'The nightly import' end || ' number ' || m.n ||
                ' took eleven minutes instead of four.', null, '{}', '{}', t.at, t.at
         from generate_series(1, ${messages}) m (n), lateral (select 1790000000000000000 + m.n::bigint * 1000 as at) t,
              place, author
        where place.n = m.n % ${CHANNELS} and author.n = 1 + m.n % 50;
       insert into message_mention (channel_id, message_id, user_id, created_at)
       select m.channel_id, m.id, u.id, m.created_at from message m, users u
        where m.created_at / 1000 % 97 = 0 and u.email like '%@example.com'`,
    );
    // Messages that are older than an account do not count as unread.
    await client.query('update users set created_at = 0');
    await client.query('vacuum (analyze) users, channel, message, message_mention, access_grant');
  } finally {
    await client.end();
  }
}
