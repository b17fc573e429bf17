import type { EntityManager, Transaction as OrmTransaction } from '@mikro-orm/postgresql';
import type { PoolClient } from 'pg';
import { type Database, type Sql, traceStatement } from './sql.ts';

/** One transaction of PostgreSQL: for prepared statements, and for entities. */
export interface Transaction extends Sql {
  /** The entities of this transaction. Changes are flushed before the commit; flush earlier where a statement reads them. */
  readonly em: EntityManager;
}

/**
 * Runs the work in one transaction, which is rolled back when the work throws. Transactions begin in this file alone, apart from those of
 * migrations. Transactions do not nest: pass `tx` on instead.
 */
export async function transaction<T>(
  { sql }: { readonly sql: Database },
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await sql.connect();
  let isBroken = false;
  try {
    await client.query('begin');
    const { tx, flush } = open(sql, client);
    const result = await work(tx);
    await flush();
    await traceStatement('commit', () => client.query('commit'));
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => {
      isBroken = true;
    });
    throw error;
  } finally {
    // The pool closes a connection that cannot roll back.
    client.release(isBroken);
  }
}

/**
 * Runs reads in one transaction, for statements that need settings: on the replica when that can answer. They may run twice.
 */
export const readTransaction = <T>(
  { sql }: { readonly sql: Database },
  work: (tx: Sql) => Promise<T>,
): Promise<T> =>
  sql.read(async (client, tx) => {
    await client.query('begin read only');
    try {
      const result = await work(tx);
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback').catch(() => {});
      throw error;
    }
  });

/** The entity manager is forked at first use: most transactions consist of statements alone. */
function open(sql: Database, client: PoolClient): { tx: Transaction; flush(): Promise<void> } {
  let em: EntityManager | undefined;
  const tx: Transaction = {
    ...sql.on(client),
    get em() {
      if (!em) {
        em = sql.fork();
        em.setTransactionContext(ormTransaction(client));
      }
      return em;
    },
  };
  return { tx, flush: async () => em?.flush() };
}

/** A connection for MikroORM, which calls only `executeQuery` within a transaction. */
function ormTransaction(client: PoolClient): OrmTransaction {
  const executor: Pick<OrmTransaction, 'executeQuery'> = {
    async executeQuery({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) {
      const { rows, rowCount, command } = await traceStatement('entity', () =>
        client.query(sql, [...parameters]),
      );
      return command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    },
  };
  return executor as OrmTransaction;
}
