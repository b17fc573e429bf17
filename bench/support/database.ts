import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../../src/database/embedded/embedded.ts';
import { runner, type Sql } from '../../src/database/sql.ts';
import { descendants } from './processes.ts';

export interface Cluster {
  /** All current processes of the cluster. */
  pids(): number[];
  /** The folder of the socket and the user; `dbName` is the first database of the cluster. */
  address: Awaited<ReturnType<typeof startEmbedded>>['address'];
  /** Makes an empty database and returns its URL. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

/** A temporary cluster with the settings of the server's embedded one: durable, fsync on. */
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

/** A URL with a Unix socket: `pg` takes its folder from `host=`. */
export function urlOf({ host, port, user, password }: Cluster['address'], dbName: string): string {
  const query = new URLSearchParams({ host, port: String(port) });
  return `postgresql://${user}:${encodeURIComponent(password)}@localhost/${dbName}?${query}`;
}

/** A bare `pg` pool behind the interface of the repositories. */
export const sqlOn = (pool: pg.Pool): Sql => runner(pool);

export interface Captured {
  name: string;
  text: string;
  values: unknown[];
}

/** A baseline replaces these by the channel of the request and by a new id. */
export const CHANNEL = '<channel>';
export const FRESH = '<fresh>';

/**
 * Records the statements of a repository function with their values, so that a baseline can send the same.
 */
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
