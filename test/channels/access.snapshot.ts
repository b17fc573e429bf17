import pg from 'pg';
import type { Stage } from './people.ts';

type Rows = Record<string, unknown>[];
/** The rows that a refused call must not change, by table, and the numbers of channels and files. */
export type Snapshot = Record<string, Rows | number>;

/** The tables with the contents of a channel (`$1`, with the file `$2`); referenced tables come first. */
const TABLES = {
  channel: 'id = $1::uuid',
  access_grant: "resource_type = 'channel' and resource_id = $1::text",
  file: 'id = $2::uuid',
  channel_member: 'channel_id = $1::uuid',
  channel_reader: 'channel_id = $1::uuid',
  channel_webhook: 'channel_id = $1::uuid',
  channel_event: 'channel_id = $1::uuid',
  message: 'channel_id = $1::uuid',
  message_file: 'channel_id = $1::uuid',
  message_mention: 'channel_id = $1::uuid',
  message_reaction: 'channel_id = $1::uuid',
  message_temp_id: 'channel_id = $1::uuid',
};

const TAKE = `select jsonb_build_object(${[
  ...Object.entries(TABLES).map(
    ([table, condition]) =>
      `'${table}', (select coalesce(jsonb_agg(to_jsonb(t) order by to_jsonb(t)), '[]') from ${table} t where ${condition})`,
  ),
  `'channels', (select count(*) from channel)`,
  `'files', (select count(*) from file)`,
].join(', ')}) as taken`;

const INSERT = `with ${Object.keys(TABLES)
  .map(
    (table) =>
      `_${table} as (insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb -> '${table}'))`,
  )
  .join(', ')} select 1`;

/**
 * Reads the contents of a channel directly from the database, and restores them, so that a stage can be used
 * again. The large statements have names, so that they are planned once.
 */
export async function openSnapshots(url: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    async take({ channelId, fileId }: Stage): Promise<Snapshot> {
      const { rows } = await client.query<{ taken: Snapshot }>({
        name: 'take',
        text: TAKE,
        values: [channelId, fileId],
      });
      return rows[0]?.taken ?? {};
    },
    async restore({ channelId, fileId }: Stage, taken: Snapshot): Promise<void> {
      await client.query('begin');
      await client.query('delete from channel where id = $1', [channelId]);
      await client.query(`delete from access_grant where ${TABLES.access_grant}`, [channelId]);
      await client.query('delete from file where id = $1', [fileId]);
      await client.query({ name: 'insert', text: INSERT, values: [JSON.stringify(taken)] });
      await client.query('commit');
    },
    close: () => client.end(),
  };
}
export type Snapshots = Awaited<ReturnType<typeof openSnapshots>>;
