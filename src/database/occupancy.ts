import type { MikroORM } from '@mikro-orm/postgresql';
import type { Logger } from 'pino';

/** Any constant will do, as long as every server asks for the same. */
const OCCUPANCY_LOCK = 7_011_503;
const RETRY_MS = 1_000;

/** The database is in use by another process, and the two could not tell each other anything. */
export class OccupiedError extends Error {
  override readonly name = 'OccupiedError';
}

/**
 * Keeps processes apart that cannot hear each other. A process without a shared store needs the database to itself; those with
 * one share it among themselves. PostgreSQL holds the lock for a connection, so it ends with the process, however that ends.
 *
 * @param onLost is called when the connection broke and somebody else holds the database now
 * @throws OccupiedError when another process holds it
 */
export async function occupy(
  orm: MikroORM,
  options: { shared: boolean; log: Logger; onLost(): void },
): Promise<{ release(): void }> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const lock = options.shared ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock';
  let released = false;
  let drop = () => {};

  async function take(): Promise<boolean> {
    const client = await pool.connect();
    const { rows } = await client.query(`select ${lock}($1) as held`, [OCCUPANCY_LOCK]);
    if (rows[0]?.held !== true) {
      client.release();
      return false;
    }
    // Destroyed rather than returned: the lock must not live on in the pool.
    drop = () => client.release(true);
    client.once('error', () => {
      drop();
      void retake();
    });
    return true;
  }

  async function retake(): Promise<void> {
    while (!released) {
      try {
        if (!(await take())) options.onLost();
        return;
      } catch (error) {
        options.log.warn({ err: error }, 'The database does not answer; trying again.');
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  if (!(await take())) {
    throw new OccupiedError(
      'Another Parley process uses this database. Stop it, or set REDIS_URL for all of them to run several.',
    );
  }
  return {
    release() {
      released = true;
      drop();
    },
  };
}
