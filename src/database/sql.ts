import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import { type PoolLoad, shareConnections } from './pool.ts';

/**
 * Hot statements go to PostgreSQL as named prepared statements: parsed and planned once per connection. MikroORM
 * writes parameters into the text, which PostgreSQL then has to plan anew each time.
 */
export interface Statement<Row> {
  readonly name: string;
  readonly text: string;
  /** Carries the row's type only; never set. */
  readonly row?: Row;
}

/** Names a hand-written statement. The name must be unique in the program: it is the prepared statement's. */
export const statement = <Row>(name: string, text: string): Statement<Row> => ({ name, text });

/**
 * A statement that PostgreSQL plans anew each time, knowing the values: for one whose best plan depends on them by more than
 * planning costs.
 */
export const plannedAnew = <Row>(text: string): Statement<Row> => ({ name: '', text });

export interface Sql {
  /** Runs a statement; parameters are `$1`, `$2`, … Outside `transaction` it is on its own, on any connection. */
  rows<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Sql {
  /** Runs the work in one transaction, which is taken back when it throws. */
  transaction<T>(work: (sql: Sql) => Promise<T>): Promise<T>;
}

export interface PooledDatabase extends Database {
  /** How the connections are used, by the ORM too. */
  load(): PoolLoad;
}

interface Queryable {
  query(config: { name: string; text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

const runner = (on: Queryable): Sql => ({
  async rows<Row>({ name, text }: Statement<Row>, values: readonly unknown[]) {
    const result = await on.query({ name, text, values: [...values] });
    return result.rows as Row[];
  },
});

/** The pool of an initialised ORM as a runner of prepared statements. */
export async function openSql(orm: MikroORM): Promise<PooledDatabase> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const load = shareConnections(pool);
  return {
    ...runner(pool),
    load,
    async transaction(work) {
      const client = await pool.connect();
      let broken = false;
      try {
        await client.query('begin');
        const result = await work(runner(client));
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch(() => {
          broken = true;
        });
        throw error;
      } finally {
        // A connection that cannot even roll back is not given to anybody else.
        client.release(broken);
      }
    },
  };
}

/** A unit of work's transaction as a runner of statements, for changes that the one part of writes and the other words in SQL. */
export const sqlWithin = (em: EntityManager): Sql => ({
  async rows<Row>({ name, text }: Statement<Row>, values: readonly unknown[]) {
    const { rows } = await em.getKysely().executeQuery<Row>({
      sql: text,
      parameters: values,
      query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
      queryId: { queryId: name },
    });
    return rows;
  },
});
