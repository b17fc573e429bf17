import { randomInt } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { Pool, PoolClient } from 'pg';
import { DatabaseError } from './orm.ts';

/** Any constant that is the same in every server. */
const PROBE_LOCKS = 7_011_508;

/** The pool of connections of an ORM. */
export const poolOf = (orm: MikroORM): Promise<Pool> => orm.em.getDriver().getConnection().getNativeClient();

/**
 * Checks that the connections of `sessions` keep their session, and lead to the database of `orm`. A pool in transaction mode gives two
 * clients that take turns the same connection to PostgreSQL, or one client another one each time.
 *
 * @throws DatabaseError when they do not
 */
export async function requireSessions(orm: MikroORM, sessions: MikroORM): Promise<void> {
  const pool = await poolOf(sessions);
  await withClient(pool, async (one) => {
    const first = await pidOf(one);
    const second = await withClient(pool, pidOf);
    if (first === second || first !== (await pidOf(one))) {
      throw new DatabaseError(
        'it gives each transaction another connection, as PgBouncer does with pool_mode=transaction: set DATABASE_SESSION_URL to the address of PostgreSQL itself or of a pool with pool_mode=session',
      );
    }
    const mark = randomInt(2 ** 31);
    await one.query('select pg_advisory_lock($1, $2)', [PROBE_LOCKS, mark]);
    const [row] = await orm.em.execute<{ isSame: boolean }[]>(
      `select exists (select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
         where l.locktype = 'advisory' and l.classid = ? and l.objid = ?) as "isSame"`,
      [PROBE_LOCKS, mark],
    );
    if (!row?.isSame) throw new DatabaseError('DATABASE_URL leads to another database');
  });
}

/**
 * Whether a pool in transaction mode keeps named statements apart (PgBouncer from 1.21 on, with `max_prepared_statements`). It then gives
 * them names of its own; without that, clients meet the statements of others on a connection.
 */
export async function keepsStatements(orm: MikroORM): Promise<boolean> {
  const name = `parley.probe-${randomInt(2 ** 31)}`;
  const text = 'select exists (select from pg_prepared_statements where name = $1) as "isOwn"';
  return withClient(await poolOf(orm), async (client) => {
    const { rows } = await client.query<{ isOwn: boolean }>({ name, text, values: [name] });
    return rows[0]?.isOwn === false;
  });
}

/**
 * A pool does not pass on the limits of time that the server sends when it connects.
 *
 * @throws DatabaseError when the role has none of its own
 */
export async function requireTimeLimits(orm: MikroORM): Promise<void> {
  const [row] = await orm.em.execute<{ role: string; isLimited: boolean }[]>(
    `select quote_ident(current_user) as role,
            current_setting('statement_timeout') <> '0' and current_setting('idle_in_transaction_session_timeout') <> '0' as "isLimited"`,
  );
  if (!row || row.isLimited) return;
  throw new DatabaseError(
    `it does not limit the time of a transaction: run «alter role ${row.role} set statement_timeout = '20s'; alter role ${row.role} set idle_in_transaction_session_timeout = '20s'», and have the pool open new connections`,
  );
}

const pidOf = async (client: PoolClient): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;

/** The connection is closed afterwards: it may have a lock, a statement or a transaction. */
async function withClient<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release(true);
  }
}
