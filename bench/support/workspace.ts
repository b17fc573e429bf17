import pg from 'pg';
import { type Child, startChild } from './child.ts';
import { type Cluster, startCluster } from './database.ts';
import { type Parley, startParley } from './parley.ts';

/** Shared by the cases: one server on one database with its channels, and one HTTP load. */
export interface Workspace {
  cluster: Cluster;
  databaseUrl: string;
  parley: Parley;
  http: Child<string>;
  /** The header of the member. */
  authorization: { authorization: string };
  /** Empty channels to post into. */
  channels: string[];
  quick: boolean;
  rounds: number;
  /** The duration of an HTTP load in each round. */
  seconds: number;
  stop(): Promise<void>;
}

export const CONNECTIONS = 16;

/** A message of usual length. */
export const CONTENT =
  'The nightly import took eleven minutes instead of four: the new index is not used while the old statistics are there. I would analyse the table once more and look again tomorrow.';

export async function openWorkspace({ quick }: { quick: boolean }): Promise<Workspace> {
  const closers: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const cluster = await startCluster();
    closers.push(cluster.stop);
    const databaseUrl = await cluster.createDatabase('workspace');
    const parley = await startParley({ databaseUrl, makesPython: true });
    closers.push(parley.stop);
    const http = await startChild<string>('load/http.ts', 'load', null);
    closers.push(http.stop);
    const channels: string[] = [];
    for (let made = 0; made < CONNECTIONS; made += 1) channels.push(await createChannel(parley));
    return {
      cluster,
      databaseUrl,
      parley,
      http,
      authorization: { authorization: `Bearer ${parley.token}` },
      channels,
      quick,
      rounds: quick ? 2 : 5,
      seconds: quick ? 2 : 4,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes a channel that the member may write in. */
export async function createChannel({ asAdministrator, userId }: Parley): Promise<string> {
  const grant = { principal_type: 'user', principal_id: userId, permission: 'write' };
  const { id } = await asAdministrator<{ id: string }>('POST /channels/create', {
    name: 'bench',
    access_grants: [grant],
  });
  return id;
}

/** The number of newest messages with reactions: more than a page has. */
const REACTED = 1_000;

/**
 * Fills a channel with messages of the member, directly in the database: every fifth quotes the one before,
 * and every tenth is a reply in a thread.
 */
export async function seedMessages(
  { databaseUrl, parley }: Workspace,
  channelId: string,
  count: number,
): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const idOf = (n: string) => `md5($1::uuid::text || (${n})::text)::uuid`;
    await client.query(
      `insert into message (channel_id, id, user_id, content, reply_to_id, parent_id, data, meta, reply_count,
                            latest_reply_at, created_at, updated_at)
       select $1::uuid, ${idOf('n')}, $2, $3, case when n % 5 = 0 then ${idOf('n - 1')} end,
              case when n % 10 = 0 then ${idOf('n - 9')} end, '{}', '{}', case when n % 10 = 1 then 1 else 0 end,
              case when n % 10 = 1 then at + 9000 end, at, at
         from generate_series(1, $4::int) n, lateral (select 1790000000000000000 + n::bigint * 1000 as at) t`,
      [channelId, parley.userId, CONTENT, count],
    );
    await client.query(
      `insert into message_reaction (channel_id, message_id, name, user_id, created_at)
       select $1::uuid, ${idOf('n')}, r.name, u.id, 1790000000000000000 + n::bigint * 1000
         from generate_series(greatest(1, $2::int - $3::int + 1), $2::int) n, unnest(array['👍', '🎉', '👀']) r (name), users u`,
      [channelId, count, REACTED],
    );
    await client.query('vacuum (analyze) message, message_reaction');
  } finally {
    await client.end();
  }
}
