import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { DatabaseAddress } from '../../src/database/embedded/embedded.ts';
import { runner, type Sql } from '../../src/database/sql.ts';

/** The database with the migrated schema that every test database is copied from. */
export const TEMPLATE = 'template_parley';

export const quoteName = (name: string): string => pg.escapeIdentifier(name);

/** A URL with a Unix socket: `pg` takes its folder from `host=`. */
export function urlOf({ host, port, user, password, dbName }: DatabaseAddress): string {
  const query = new URLSearchParams({ host, port: String(port) });
  return `postgresql://${user}:${encodeURIComponent(password)}@localhost/${dbName}?${query}`;
}

/** The address of another database of the same cluster. */
export function inDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${name}`;
  return other.href;
}

export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * The connection of a test in the form that runs statements, so that a test can store what the server would.
 */
export const sqlOf = (client: pg.Client): Sql =>
  runner({ query: ({ text, values }) => client.query(text, values) });

export interface TestDatabase {
  url: string;
  /** Runs a statement directly, without the server. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  drop(): Promise<void>;
}

export interface DatabaseOptions {
  /** A database without any table. */
  empty?: boolean;
  /** In another cluster than that of the run, which has no schema to copy. */
  clusterUrl?: string;
}

/** A new database with the migrated schema. */
export async function createDatabase(options: DatabaseOptions = {}): Promise<TestDatabase> {
  const clusterUrl = options.clusterUrl ?? inject('clusterUrl');
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  const template = options.empty || options.clusterUrl ? 'template1' : TEMPLATE;
  // Copies the files: writing each page to the log, as PostgreSQL does by default, takes twice the processor time.
  await withClient(clusterUrl, (client) =>
    client.query(`create database ${quoteName(name)} template ${quoteName(template)} strategy file_copy`),
  );
  const url = inDatabase(clusterUrl, name);
  // Keeps a connection for the next statement of the test: making one takes more processor time than most statements.
  const pool = new pg.Pool({
    connectionString: url,
    max: 50,
    idleTimeoutMillis: 1000,
    allowExitOnIdle: true,
  });
  // A test has ended an unused connection.
  pool.on('error', () => {});
  return {
    url,
    query: async (text, values) => (await pool.query(text, values)).rows,
    drop: () =>
      withClient(clusterUrl, async (client) => {
        // Not `with (force)`, which would also end the autovacuum worker, and this role may not do that.
        // Without it, PostgreSQL ends that worker itself. PostgreSQL waits five seconds for ending
        // connections; here each is awaited.
        await client.query(
          `select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = $1 and usename = current_user`,
          [name],
        );
        await pool.end();
        await client.query(`drop database ${quoteName(name)}`);
      }),
  };
}
