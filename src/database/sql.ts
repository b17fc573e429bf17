import type { MikroORM } from '@mikro-orm/postgresql';

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

export interface Sql {
  /** Runs a statement on a pooled connection outside any transaction; parameters are `$1`, `$2`, … */
  rows<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>;
}

/** The pool of an initialised ORM as a runner of prepared statements. */
export async function openSql(orm: MikroORM): Promise<Sql> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  return {
    async rows<Row>({ name, text }: Statement<Row>, values: readonly unknown[]) {
      const result = await pool.query({ name, text, values: [...values] });
      return result.rows as Row[];
    },
  };
}
