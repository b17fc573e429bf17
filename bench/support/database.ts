import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/database/embedded.ts';
import { runner, type Sql } from '../../src/database/sql.ts';
import { descendants } from './processes.ts';

export interface Cluster {
  /** All its processes at this moment. */
  pids(): number[];
  /** Where the socket is, who connects; `dbName` is the cluster's first database. */
  address: Awaited<ReturnType<typeof startEmbedded>>['address'];
  /** Makes an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** A throw-away cluster with the settings that the server itself gives its embedded one: durable, fsync on. */
export async function startCluster(): Promise<Cluster> {
  const dataDir = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  const { address, pid, stop } = await startEmbedded({ dataDir, log: (line) => console.error(line) });
  return {
    pids: () => [pid, ...descendants(pid).map((child) => child.pid)],
    address,
    async createDatabase(name) {
      const client = new pg.Client(urlOf(address, address.dbName));
      await client.connect();
      await client.query(`create database ${pg.escapeIdentifier(name)}`);
      await client.end();
      return urlOf(address, name);
    },
    async stop() {
      await stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A Unix socket as a URL: `pg` takes its folder from `host=`. */
export function urlOf({ host, port, user, password }: Cluster['address'], dbName: string): string {
  const query = new URLSearchParams({ host, port: String(port) });
  return `postgresql://${user}:${encodeURIComponent(password)}@localhost/${dbName}?${query}`;
}

/** A bare `pg` pool behind the interface that the repositories take. */
export const sqlOn = (pool: pg.Pool): Sql => runner(pool);

export interface Captured {
  name: string;
  text: string;
  values: unknown[];
}

/** What a baseline puts the request's channel, or a new id, in the place of. */
export const CHANNEL = '<channel>';
export const FRESH = '<fresh>';

/** The statements that a repository function sends, with their values, so that a baseline can send the very same. */
export async function captureStatements(run: (sql: Sql) => Promise<unknown>): Promise<Captured[]> {
  const captured: Captured[] = [];
  const sql = runner({
    async query(statement) {
      captured.push(statement);
      return { rows: [] };
    },
  });
  await run(sql);
  return captured;
}
