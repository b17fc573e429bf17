import { createRequire } from 'node:module';
import type pg from 'pg';

/** The copy of the driver that the server uses; npm may install another one beside it for the tests. */
const { Client }: typeof pg = createRequire(import.meta.resolve('@mikro-orm/postgresql'))('pg');

/** What a server asks by itself now and then, whether anybody calls or not. */
const BY_ITSELF: ReadonlySet<string | undefined> = new Set([
  'delivery.claim',
  'session.seen',
  'users.seen',
  'api_key.used',
  'tool.packages',
  // The worker looks for jobs every two seconds, for workers that are gone every five.
  'get_job/graphile_worker',
  'jobs.orphaning',
  'jobs.held',
  'jobs.count',
]);

/** Asked anew for each session every half minute: whether that falls into some work is chance. */
const VERIFYING = 'session.read';

/**
 * The statements that this process sends while some work goes on, by any connection. Whatever else runs at the same time
 * is counted too, so nothing else should.
 *
 * @param options.verifying whether what verifies a session counts as well
 */
export async function recordStatements(
  work: () => Promise<unknown>,
  { verifying = false } = {},
): Promise<string[]> {
  const statements: string[] = [];
  const { prototype } = Client;
  const original = prototype.query;
  prototype.query = function record(this: pg.Client, ...args: unknown[]) {
    const [query] = args as [string | { name?: string; text?: string }];
    if (typeof query === 'string') statements.push(query);
    else if (!BY_ITSELF.has(query.name) && (verifying || query.name !== VERIFYING))
      statements.push(query.text ?? '');
    return Reflect.apply(original, this, args);
  } as typeof original;
  try {
    await work();
  } finally {
    prototype.query = original;
  }
  return statements;
}
