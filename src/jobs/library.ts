import { Logger } from 'graphile-worker';
import type { Pool, QueryConfig } from 'pg';
import type { Logger as Log } from 'pino';
import { runForeign, type Sql } from '../database/sql.ts';
import type { Endings } from './endings.ts';

/** Our own code writes failures before the library does, with the back-off of the kind, and releases locks sooner. */
const LEFT_TO_US = /^(fail_jobs?(_q)?|clear_stale_locksN?)\//;
const ENDS_A_JOB = /^complete_jobs?(_q)?\//;
const LOOKS_FOR_A_JOB = /^get_job/;

/**
 * The pool for so many workers of the library, over our own connections. It gets no connection to listen on, because its reconnection
 * takes up to a minute and logs each attempt; `line.ts` listens.
 */
export function poolOf(sql: Sql, endings: Endings, workers: number): Pool {
  const startInTurn = inTurn(workers);
  async function query({ name, text, values = [] }: QueryConfig): Promise<{ rows: unknown[] }> {
    if (name !== undefined && LEFT_TO_US.test(name)) return { rows: [] };
    const ask = () => runForeign(sql, { name, text, values });
    if (name !== undefined && LOOKS_FOR_A_JOB.test(name)) return { rows: await startInTurn(ask) };
    if (name === undefined || !ENDS_A_JOB.test(name)) return { rows: await ask() };
    await endings.write(ask);
    return { rows: [] };
  }
  const client = { query, release: () => {} };
  return {
    connect: (listen?: unknown) => (listen ? undefined : Promise.resolve(client)),
  } as unknown as Pool;
}

/**
 * Runs the first `count` questions one after the other: each worker looks for a job when it starts, and together they would open all
 * connections of the pool. When one finds nothing, those that wait find nothing either; an idle worker is woken for a later job.
 */
function inTurn(count: number): (ask: () => Promise<unknown[]>) => Promise<unknown[]> {
  let remaining = count;
  let unanswered: Promise<unknown[]> | undefined;
  return (ask) => {
    if (remaining === 0) return ask();
    remaining -= 1;
    const answer = unanswered?.then((rows) => (rows.length === 0 ? rows : ask()), ask) ?? ask();
    unanswered = answer;
    const settle = () => {
      if (unanswered === answer) unanswered = undefined;
    };
    answer.then(settle, settle);
    return answer;
  };
}

/** Passes the library's messages to our log. `attempts.ts` logs the ends of jobs. */
export const loggerInto = (log: Log): Logger =>
  new Logger(() => (level, message, meta) => {
    if (meta?.failure || meta?.success) return;
    const known = meta?.error instanceof Error ? { err: meta.error } : {};
    if (level === 'error' || level === 'warning') log.warn(known, `The queue of jobs: ${message}`);
    else log.trace(known, `The queue of jobs: ${message}`);
  });
