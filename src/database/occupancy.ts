import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import type { Logger } from 'pino';
import { OUTAGES } from '../core/outage.ts';

/** Any constants that are the same in every server. */
const OCCUPANCY_LOCK = 7_011_503;
const SECRET_LOCKS = 7_011_504;
const GROUP_LOCKS = 7_011_505;
const RETRY_MS = 1_000;
/** PostgreSQL may need a moment to notice that the process with the locks was killed. */
const GHOST_MS = 2_000;
const GHOST_RETRY_MS = 100;

/** Another process uses the database, and the two cannot work together. */
export class OccupiedError extends Error {
  override readonly name = 'OccupiedError';
}

interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Whether this is the only process, or all processes share the database. */
async function holdsPlace(client: Queryable, shared: boolean): Promise<boolean> {
  const lock = shared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  const { rows } = await client.query(`select ${lock}($1) as held`, [OCCUPANCY_LOCK]);
  return rows[0]?.held === true;
}

/** Whether all processes have the same value. Each publishes its own as the second half of a lock. */
async function agrees(client: Queryable, locks: number, value: number): Promise<boolean> {
  await client.query('select pg_advisory_lock_shared($1, $2)', [locks, value]);
  const { rows } = await client.query(
    `select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
      where l.locktype = 'advisory' and l.objsubid = 2 and l.classid = $1 and l.objid <> $2`,
    [locks, value],
  );
  return rows.length === 0;
}

export interface OccupyOptions {
  /** The processes with the same number can tell each other what happens; null: this process needs the database alone. */
  group: number | null;
  /** 31 bits that are derived from the secret. */
  fingerprint: number;
  log: Logger;
  /** Called when the connection broke and another process holds the database now. */
  onLost(): void;
}

/** The database as this process holds it. */
export interface Occupancy {
  release(): Promise<void>;
}

/**
 * Keeps processes off the database that cannot work together. Processes of one group share it if their secrets are the same: those
 * with a Redis, or the workers of one primary. Any other process needs the database alone. PostgreSQL ties the locks to a connection, so they end with the process.
 *
 * @throws OccupiedError when another process is in the way
 */
export async function occupy(orm: MikroORM, options: OccupyOptions): Promise<Occupancy> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const place = new Place(pool, options);
  await place.take();
  return place;
}

class Place implements Occupancy {
  readonly #pool: Pool;
  readonly #options: OccupyOptions;
  /** The connection that has the locks. */
  #client: PoolClient | null = null;
  #isReleased = false;

  constructor(pool: Pool, options: OccupyOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  /** Takes the locks; waits for those of a connection or a process that has just ended. */
  async take(): Promise<void> {
    for (const end = Date.now() + GHOST_MS; ; ) {
      try {
        return await this.#tryToTake();
      } catch (error) {
        if (!(error instanceof OccupiedError) || Date.now() > end) throw error;
        await delay(GHOST_RETRY_MS);
      }
    }
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    // A closed connection would release the locks too, but only when PostgreSQL notices: the next process may be quicker.
    await this.#client?.query('select pg_advisory_unlock_all()').catch(() => {});
    this.#drop();
  }

  async #tryToTake(): Promise<void> {
    const client = await this.#pool.connect();
    this.#client = client;
    let holds = false;
    // Before the locks: the answer with the last one may arrive together with the end of the connection.
    client.once('error', () => {
      if (this.#client === client) this.#drop();
      if (holds) void this.#retake();
    });
    try {
      await this.#lock(client);
    } catch (error) {
      this.#drop();
      throw error;
    }
    if (this.#client !== client) throw new Error('The connection ended with its locks.');
    holds = true;
  }

  async #lock(client: PoolClient): Promise<void> {
    const { group, fingerprint } = this.#options;
    if (!(await holdsPlace(client, group !== null)) || !(await agrees(client, GROUP_LOCKS, group ?? 0))) {
      throw new OccupiedError(
        'Another Parley process uses this database. Stop it, or set REDIS_URL for all of them to run several.',
      );
    }
    if (!(await agrees(client, SECRET_LOCKS, fingerprint))) {
      throw new OccupiedError(
        'Another Parley process uses this database with another secret. Set the same SECRET_KEY for all of them.',
      );
    }
  }

  async #retake(): Promise<void> {
    while (!this.#isReleased) {
      try {
        await this.take();
        if (this.#isReleased) this.#drop();
        return;
      } catch (error) {
        if (error instanceof OccupiedError) return this.#options.onLost();
        this.#options.log.warn({ err: error }, OUTAGES.away);
        await delay(RETRY_MS);
      }
    }
  }

  /** Destroys the connection instead of returning it: the locks must not live on in the pool. */
  #drop(): void {
    const client = this.#client;
    this.#client = null;
    client?.release(true);
  }
}
