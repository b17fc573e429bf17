import { createRequire } from 'node:module';
import type pg from 'pg';

/** The driver of the server; npm may install another copy of it for the tests. */
const { Client }: typeof pg = createRequire(import.meta.resolve('@mikro-orm/postgresql'))('pg');

/** Statements that a server runs by itself now and then. */
const BY_ITSELF: ReadonlySet<string | undefined> = new Set([
  'delivery.claim',
  'session.seen',
  'users.seen',
  'api_key.used',
  'tool.packages',
  'reply.overdue',
  'usage.renew',
  'usage.give_back',
  'usage.prune',
  'usage.prune_counters',
  // The worker looks for jobs every two seconds, and for dead workers every five.
  'get_job/graphile_worker',
  'jobs.orphaning',
  'jobs.held',
  'jobs.count',
]);

/** Runs for each session every half minute, so its presence is chance. */
const VERIFYING = 'session.read';

/**
 * Records the statements that this process sends on all connections during the work. Other work at the same
 * time is recorded too, so there should be none.
 *
 * @param options.verifying true to include the statements that verify a session
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
