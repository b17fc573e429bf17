import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';
import type { PoolClient } from 'pg';
import type { PartState } from '../core/readiness.ts';
import { isTraced, traceStep } from '../core/tracing.ts';
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
  /** Whether a replica may answer it; see `onReplica`. */
  readonly isOnReplica?: boolean;
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

/** Marks the read of a list: a replica answers it, if there is one that has everything which was committed before the read. */
export const onReplica = <Row, Params extends object>(
  of: Statement<Row, Params>,
): Statement<Row, Params> => ({
  ...of,
  isOnReplica: true,
});

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
  /** Runs statements on one of its connections. */
  on(client: PoolClient): Sql;
  /** Runs reads on one connection, of the replica when that can answer (`replica.ts`); they may run twice. */
  read<T>(work: (client: PoolClient, sql: Sql) => Promise<T>): Promise<T>;
  /** An entity manager without loaded entities. */
  fork(): EntityManager;
}

export interface PooledDatabase extends Database {
  /** How the connections are used, by the ORM too. */
  load(): PoolLoad;
  /** The state of the replica that answers lists. */
  replica?(): PartState;
}

interface Queryable {
  query(config: { name: string; text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

/** Runs statements on a connection or a pool. @param isNamed whether statements keep their names, and so their plans */
export const runner = (on: Queryable, isNamed = true): Sql => ({
  async rows<Row>(of: Statement<Row, never>, params: object = {}) {
    const query = { name: isNamed ? of.name : '', text: of.text, values: valuesOf(of, params) };
    const { rows } = await (isTraced() ? traceStatement(of.name, () => on.query(query)) : on.query(query));
    return rows as Row[];
  },
});

/** Traces a statement by its name, without its text and values. */
export const traceStatement = <T>(name: string, send: () => Promise<T>): Promise<T> =>
  traceStep(
    () => ({
      name: name || 'statement',
      kind: 'client',
      attributes: { 'db.system.name': 'postgresql', 'db.query.summary': name || 'statement' },
    }),
    send,
  );

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

/** Runs statements on the pool of an initialised ORM, as prepared ones where they may have names. */
export async function openSql(orm: MikroORM, isNamed = true): Promise<PooledDatabase> {
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  const load = shareConnections(pool);
  return {
    ...runner(pool, isNamed),
    load,
    connect: () => pool.connect(),
    on: (client) => runner(client, isNamed),
    async read(work) {
      const client = await pool.connect();
      try {
        return await work(client, runner(client, isNamed));
      } finally {
        client.release();
      }
    },
    fork: () => orm.em.fork(),
  };
}

/** Checks that the database answers. */
export const PING = statement<never>('health.ping', 'select 1');
