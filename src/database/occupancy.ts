import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';
import { OUTAGES } from '../core/outage.ts';

/** Any constants will do, as long as every server asks for the same. */
const OCCUPANCY_LOCK = 7_011_503;
const SECRET_LOCKS = 7_011_504;
const RETRY_MS = 1_000;
/** PostgreSQL may notice only after a moment that a process which held the database has been killed. */
const GHOST_MS = 2_000;
const GHOST_RETRY_MS = 100;

/** The database is in use by another process, and the two could not work as one. */
export class OccupiedError extends Error {
  override readonly name = 'OccupiedError';
}

interface Queryable {
  query(text: string, values: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** Whether this is the only process, or all others are willing to share. */
async function holdsPlace(client: Queryable, shared: boolean): Promise<boolean> {
  const lock = shared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  const { rows } = await client.query(`select ${lock}($1) as held`, [OCCUPANCY_LOCK]);
  return rows[0]?.held === true;
}

/** Whether all processes have the same secret. Each shows the fingerprint of its own as the second half of a lock. */
async function agreesOnSecret(client: Queryable, fingerprint: number): Promise<boolean> {
  await client.query('select pg_advisory_lock_shared($1, $2)', [SECRET_LOCKS, fingerprint]);
  const { rows } = await client.query(
    `select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
      where l.locktype = 'advisory' and l.objsubid = 2 and l.classid = $1 and l.objid <> $2`,
    [SECRET_LOCKS, fingerprint],
  );
  return rows.length === 0;
}

export interface OccupyOptions {
  /** Whether the processes can tell each other what happens. */
  shared: boolean;
  /** Stands for the secret: 31 bits of something derived from it. */
  fingerprint: number;
  log: Logger;
  /** Called when the connection broke and somebody else holds the database now. */
  onLost(): void;
}

/**
 * Keeps processes apart that could not work as one. A process without a shared store needs the database to itself; those
 * with one share it, if their secrets are the same. PostgreSQL holds the locks for a connection, so they end with the
 * process, however that ends.
 *
 * @throws OccupiedError when another process is in the way
 */
export async function occupy(orm: MikroORM, options: OccupyOptions): Promise<{ release(): Promise<void> }> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  let released = false;
  let drop = () => {};
  let unlock = async () => {};

  async function take(): Promise<void> {
    const client = await pool.connect();
    // Destroyed rather than returned: the locks must not live on in the pool.
    drop = () => {
      drop = () => {};
      unlock = async () => {};
      client.release(true);
    };
    unlock = async () => {
      await client.query('select pg_advisory_unlock_all()');
    };
    try {
      if (!(await holdsPlace(client, options.shared))) {
        throw new OccupiedError(
          'Another Parley process uses this database. Stop it, or set REDIS_URL for all of them to run several.',
        );
      }
      if (!(await agreesOnSecret(client, options.fingerprint))) {
        throw new OccupiedError(
          'Another Parley process uses this database with another secret. Set the same SECRET_KEY for all of them.',
        );
      }
    } catch (error) {
      drop();
      throw error;
    }
    client.once('error', () => {
      drop();
      void retake();
    });
  }

  /** As `take`, and waits for the locks of a process that is gone already. */
  async function takeFirst(): Promise<void> {
    for (const end = Date.now() + GHOST_MS; ; ) {
      try {
        return await take();
      } catch (error) {
        if (!(error instanceof OccupiedError) || Date.now() > end) throw error;
        await delay(GHOST_RETRY_MS);
      }
    }
  }

  async function retake(): Promise<void> {
    while (!released) {
      try {
        await take();
        if (released) drop();
        return;
      } catch (error) {
        if (error instanceof OccupiedError) return options.onLost();
        options.log.warn({ err: error }, OUTAGES.away);
        await delay(RETRY_MS);
      }
    }
  }

  await takeFirst();
  return {
    async release() {
      released = true;
      // A closed connection would end the locks too, but only when PostgreSQL gets to it: the next process may be quicker.
      await unlock().catch(() => {});
      drop();
    },
  };
}
