import type { PoolClient } from 'pg';
import { runner, type Sql, statement } from './sql.ts';

/** How far the log of the primary is, in bytes, and on which of its histories: each failover begins another timeline. */
export interface Position {
  timeline: number;
  at: number;
}

const POSITION = statement<Position>(
  'replica.position',
  // A commit is on the disk before others see it, unless the disk is not waited for.
  `select ('x' || left(pg_walfile_name(lsn), 8))::bit(32)::int as timeline, (lsn - '0/0')::float8 as at
     from (select case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
                    else pg_current_wal_flush_lsn() end as lsn) p`,
);

/** The position of all that is committed. */
export async function readPosition(sql: Sql): Promise<Position> {
  const [row] = await sql.rows(POSITION);
  if (!row) throw new Error('A position is a row.');
  return row;
}

/** What a server tells of itself. */
export interface Identity {
  /** The cluster and the database, which a replica shares with its primary. */
  installation: string;
  /** Of its last checkpoint: after a failover a replica tells the new one minutes later. */
  timeline: number;
}

const IDENTITY = statement<Identity>(
  'replica.identity',
  `select s.system_identifier || '/' || d.oid as installation, c.timeline_id as timeline
     from pg_control_system() s, pg_control_checkpoint() c, pg_database d where d.datname = current_database()`,
);

export async function readIdentity(sql: Sql): Promise<Identity> {
  const [row] = await sql.rows(IDENTITY);
  if (!row) throw new Error('An identity is a row.');
  return row;
}

/** `at` is null for a server that never was a replica. */
const REPLAYED = statement<{ isReplica: boolean; at: number | null }>(
  'replica.replayed',
  `select pg_is_in_recovery() as "isReplica", (pg_last_wal_replay_lsn() - '0/0')::float8 as at`,
);

/** How far a replica shows the log of its primary; -1 for a server that is no replica. */
export async function readReplayed(client: PoolClient): Promise<number> {
  const [row] = await runner(client).rows(REPLAYED);
  return row?.isReplica ? (row.at ?? -1) : -1;
}
