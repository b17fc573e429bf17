import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { PoolClient } from 'pg';
import { parseParameters } from './parameters.ts';
import { type PoolLoad, shareConnections } from './pool.ts';

declare module '../core/scope.ts' {
  interface Parts {
    readonly sql: Database;
  }
}

/**
 * Hot statements go to PostgreSQL as named prepared statements: parsed and planned once per connection. MikroORM
 * writes parameters into the text, which PostgreSQL then plans anew each time.
 */
export interface Statement<Row, Params extends object = NoParams> {
  readonly name: string;
  readonly text: string;
  /** The names of `$1`, `$2`, … */
  readonly parameters: readonly string[];
  /** These only carry types and are never set. */
  readonly row?: Row;
  readonly params?: (params: Params) => void;
}

export type NoParams = Record<never, never>;

/**
 * A hand-written statement with parameters `:name`. Its name must be unique in the program, because the prepared statement has it.
 */
export const statement = <Row, Params extends object = NoParams>(
  name: string,
  source: string,
): Statement<Row, Params> => ({ name, ...parseParameters(source) });

/**
 * A statement that PostgreSQL plans anew each time for its values: for statements where a better plan saves more than planning costs.
 */
export const plannedAnew = <Row, Params extends object = NoParams>(source: string): Statement<Row, Params> =>
  statement('', source);

/** Refuses members that a statement has no parameter for. */
type Exactly<Params, Given> = { [Name in Exclude<keyof Given, keyof Params>]: never };

export interface Sql {
  /** Runs a statement. Outside `transaction` it runs by itself on any connection. */
  rows<Row>(statement: Statement<Row>): Promise<Row[]>;
  rows<Row, Params extends object, Given extends Params>(
    statement: Statement<Row, Params>,
    params: Given & Exactly<Params, Given>,
  ): Promise<Row[]>;
}

/** The pool. Transactions begin in `transaction.ts`. */
export interface Database extends Sql {
  connect(): Promise<PoolClient>;
  /** An entity manager without loaded entities. */
  fork(): EntityManager;
}

export interface PooledDatabase extends Database {
  /** How the connections are used, by the ORM too. */
  load(): PoolLoad;
}

interface Queryable {
  query(config: { name: string; text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

/** Runs statements on a connection or a pool. */
export const runner = (on: Queryable): Sql => ({
  async rows<Row>(of: Statement<Row, never>, params: object = {}) {
    const { rows } = await on.query({ name: of.name, text: of.text, values: valuesOf(of, params) });
    return rows as Row[];
  },
});

function valuesOf({ name, parameters }: Statement<unknown, never>, params: object): unknown[] {
  const given = params as Record<string, unknown>;
  return parameters.map((parameter) => {
    if (!(parameter in given)) throw new Error(`The statement ${name} lacks the parameter ${parameter}`);
    return given[parameter];
  });
}

/**
 * Runs a statement of a library with parameters `$1`, `$2`, … and unchanged text. Without a name it is planned anew each time.
 */
export const runForeign = (
  sql: Sql,
  {
    name = '',
    text,
    values = [],
  }: { name?: string | undefined; text: string; values?: readonly unknown[] | undefined },
): Promise<unknown[]> => {
  const parameters = values.map((_value, index) => `${index}`);
  const foreign: Statement<unknown, Record<string, unknown>> = { name, text, parameters };
  const params: Record<string, unknown> = Object.fromEntries(values.entries());
  return sql.rows(foreign, params);
};

/** Runs prepared statements on the pool of an initialised ORM. */
export async function openSql(orm: MikroORM): Promise<PooledDatabase> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const load = shareConnections(pool);
  return {
    ...runner(pool),
    load,
    connect: () => pool.connect(),
    fork: () => orm.em.fork(),
  };
}

/** Checks that the database answers. */
export const PING = statement<never>('health.ping', 'select 1');
