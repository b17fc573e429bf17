import type { MikroORM } from '@mikro-orm/postgresql';
import { pino } from 'pino';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import type { Parts } from '../../src/core/scope.ts';
import { openOrm } from '../../src/database/orm.ts';
import { type Database, openSql, type Sql } from '../../src/database/sql.ts';
import { enqueue, enqueueAll, type JobOptions } from '../../src/jobs/enqueue.ts';
import { defineJob, GiveUp, type JobKind, PutOff } from '../../src/jobs/kind.ts';
import { createJobs } from '../../src/jobs/worker.ts';
import { createDatabase, sqlOf, withClient } from '../support/database.ts';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';

const Payload = z.object({ name: z.string() });
type Payload = z.infer<typeof Payload>;

const started: string[] = [];
const done: string[] = [];
/** Jobs of this name wait for the promise. */
const gates = new Map<string, Promise<void>>();
const failures = new Map<string, Error>();
let atOnce = 0;
let mostAtOnce = 0;

async function work(name: string, signal: AbortSignal): Promise<void> {
  started.push(name);
  atOnce += 1;
  mostAtOnce = Math.max(mostAtOnce, atOnce);
  try {
    const gate = gates.get(name);
    if (gate) await Promise.race([gate, aborted(signal)]);
    const failure = failures.get(name);
    if (failure) throw failure;
    done.push(name);
  } finally {
    atOnce -= 1;
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });

const kind = (name: string, more: Partial<JobKind<Payload>> = {}) =>
  defineJob<Payload>({
    name,
    payload: Payload,
    run: (_parts, payload, signal) => work(payload.name, signal),
    timeLimitMs: 60_000,
    attempts: 2,
    backOffSeconds: () => 3_600,
    concurrency: 4,
    ...more,
  });

const plain = kind('test.plain');
const brief = kind('test.brief', { timeLimitMs: 100, attempts: 1 });
const narrow = kind('test.narrow', { concurrency: 2 });
const laned = kind('test.laned', { laneConcurrency: 1 });
const jobKinds = [plain, brief, narrow, laned];

const database = await createDatabase();
const server = await startServer({ database, jobKinds, env: { LOG_LEVEL: 'silent' } });
afterAll(async () => {
  await server.close();
  await database.drop();
});
const root = await signUp(server, 'Root');

const inTransaction = (end: 'commit' | 'rollback', store: (tx: Sql) => Promise<void>) =>
  withClient(database.url, async (client) => {
    await client.query('begin');
    await store(sqlOf(client));
    await client.query(end);
  });
const add = (of: JobKind<Payload>, name: string, options?: JobOptions) =>
  inTransaction('commit', (tx) => enqueue(tx, of, { name }, options));
const rowOf = async (of: JobKind<Payload>) => {
  const [row] = await database.query<Record<string, unknown>>(
    `select attempts, last_error, locked_by, run_at > now() + interval '50 minutes' as is_late
       from graphile_worker.jobs where task_identifier = $1`,
    [of.name],
  );
  return row;
};
const isGone = (of: JobKind<Payload>) => until('the job to be gone', async () => !(await rowOf(of)));
const forget = () => database.query('delete from graphile_worker._private_jobs');

/** Makes jobs of this name wait until the returned function is called. */
function hold(name: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  gates.set(name, promise);
  onTestFinished(() => {
    resolve();
    gates.delete(name);
  });
  return resolve;
}

describe('a job', () => {
  it('runs once after its transaction is committed, and never after a rollback', async () => {
    await inTransaction('rollback', (tx) => enqueue(tx, plain, { name: 'taken back' }));
    await inTransaction('commit', async (tx) => {
      await enqueue(tx, plain, { name: 'kept' });
      expect(started).not.toContain('kept');
    });
    await until('the job', () => done.includes('kept'));
    await isGone(plain);
    expect(started).not.toContain('taken back');
  });

  it('is refused with an invalid payload', async () => {
    const wrong = { nome: 'x' } as unknown as Payload;
    await expect(inTransaction('commit', (tx) => enqueue(tx, plain, wrong))).rejects.toThrow(/name/);
  });

  it('waits for its time, and is replaced by the next job with its id', async () => {
    const runAt = new Date(Date.now() + 3_600_000);
    await add(plain, 'first', { id: 'one', runAt });
    await add(plain, 'second', { id: 'one' });
    await until('the second', () => done.includes('second'));
    await isGone(plain);
    expect(started).not.toContain('first');
  });

  it('that fails is retried after the delay of its kind, and kept with its error after the last attempt', async () => {
    failures.set('faulty', new Error('It is broken.'));
    await add(plain, 'faulty');
    const first = await until('the failure', async () => {
      const row = await rowOf(plain);
      return row?.last_error && row;
    });
    expect(first).toEqual({ attempts: 1, last_error: 'It is broken.', locked_by: null, is_late: true });
    await database.query('update graphile_worker._private_jobs set run_at = now()');
    await until('the last attempt', async () => (await rowOf(plain))?.attempts === 2);
    await until('its end', async () => (await rowOf(plain))?.locked_by === null);
    await until('the metrics to tell', async () => {
      const { value } = await scrape(server.url, root.token);
      return value('parley_jobs_failed', { kind: plain.name }) === 1;
    });
    const { value } = await scrape(server.url, root.token);
    expect(value('parley_jobs_total', { kind: plain.name, outcome: 'retried' })).toBe(1);
    expect(value('parley_jobs_total', { kind: plain.name, outcome: 'failed' })).toBe(1);
    await forget();
  });

  it('that gives up is not retried, and one that is put off does not count an attempt', async () => {
    failures.set('hopeless', new GiveUp('It cannot be done.'));
    await add(plain, 'hopeless');
    await until('the end', async () => (await rowOf(plain))?.last_error === 'It cannot be done.');
    expect(await rowOf(plain)).toMatchObject({ attempts: 2 });
    await forget();
    failures.set('early', new PutOff('It is not ready.', 3_600));
    await add(plain, 'early');
    await until('the end', async () => (await rowOf(plain))?.last_error === 'It is not ready.');
    expect(await rowOf(plain)).toMatchObject({ attempts: 0, is_late: true });
    await forget();
  });

  it('over the time limit of its kind is aborted', async () => {
    hold('endless');
    await add(brief, 'endless');
    await until('the end', async () => (await rowOf(brief))?.last_error);
    expect(await rowOf(brief)).toMatchObject({ attempts: 1, last_error: 'It took longer than 0.1 s.' });
    await forget();
  });
});

describe('concurrent jobs', () => {
  const names = (of: string) => Array.from({ length: 8 }, (_, n) => `${of} ${n}`);

  it('are limited for each kind', async () => {
    const all = names('narrow');
    const releases = all.map(hold);
    mostAtOnce = 0;
    await inTransaction('commit', (tx) =>
      enqueueAll(
        tx,
        narrow,
        all.map((name) => ({ payload: { name } })),
      ),
    );
    await until('two', () => all.filter((name) => started.includes(name)).length === 2);
    // Another kind has places of its own.
    await add(plain, 'beside');
    await until('the other kind', () => done.includes('beside'));
    for (const release of releases) release();
    await isGone(narrow);
    expect(all.every((name) => done.includes(name))).toBe(true);
    expect(mostAtOnce).toBeLessThanOrEqual(3);
  });

  it('run one at a time in a lane of a kind with lanes, and other lanes go on', async () => {
    const release = hold('slow');
    await add(laned, 'slow', { lane: 'a' });
    await until('the first', () => started.includes('slow'));
    await add(laned, 'after slow', { lane: 'a' });
    await add(laned, 'other lane', { lane: 'b' });
    await until('the other lane', () => done.includes('other lane'));
    expect(started).not.toContain('after slow');
    release();
    await until('the next of the lane', () => done.includes('after slow'));
  });

  it('never have the same key', async () => {
    const release = hold('keyed');
    await add(plain, 'keyed', { key: 'k' });
    await until('the first', () => started.includes('keyed'));
    await add(plain, 'keyed after', { key: 'k' });
    await add(plain, 'without a key');
    await until('the one without a key', () => done.includes('without a key'));
    expect(started).not.toContain('keyed after');
    release();
    await until('the next of the key', () => done.includes('keyed after'));
    await isGone(plain);
  });
});

it('/ready reports the jobs while they cannot be fetched', async () => {
  const jobs = async () => {
    const body = (await (await fetch(`${server.url}/ready`)).json()) as {
      parts: Record<string, { state: string }>;
    };
    return body.parts.jobs;
  };
  expect(await jobs()).toBeUndefined();
  await database.query('alter schema graphile_worker rename to elsewhere');
  await until('the failure', async () => (await jobs())?.state === 'degraded');
  await database.query('alter schema elsewhere rename to graphile_worker');
  await until('the recovery', async () => !(await jobs()));
});

it('a server that stops gives back unfinished jobs, and the next server runs them', async () => {
  const env = { LOG_LEVEL: 'silent' };
  const other = await createDatabase();
  const one = await startServer({ database: other, jobKinds, env });
  hold('left');
  await withClient(other.url, (client) => enqueue(sqlOf(client), plain, { name: 'left' }));
  await until('the job', () => started.includes('left'));
  await one.close();
  const [row] = await other.query('select attempts, locked_by from graphile_worker.jobs');
  expect(row).toEqual({ attempts: 0, locked_by: null });
  gates.delete('left');
  const two = await startServer({ database: other, jobKinds, env });
  await until('the job to be done', () => done.includes('left'));
  await two.close();
  await other.drop();
});

it('a job that is added after the first look and before the server listens runs without waiting for the next look', async () => {
  const other = await createDatabase();
  const orm = await openOrm([], { url: other.url });
  const pool = await orm.em.getDriver().getConnection().getNativeClient();
  let looks = 0;
  const rows = await openSql(orm);
  const sql: Database = {
    ...rows,
    async rows(of: { name: string }, params: object = {}) {
      const found = await rows.rows(of as never, params as never);
      if (of.name.startsWith('get_job')) looks += 1;
      return found as never;
    },
  };
  /** The connection that listens is made after the first look, and after a job was added. */
  const connect = async () => {
    await until('the first look', () => looks > 0);
    await withClient(other.url, (client) => enqueue(sqlOf(client), plain, { name: 'between' }));
    return pool.connect();
  };
  const listening = {
    em: { getDriver: () => ({ getConnection: () => ({ getNativeClient: async () => ({ connect }) }) }) },
  };
  // The next look never comes.
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const jobs = createJobs({
    orm: listening as unknown as MikroORM,
    sql,
    log: pino({ level: 'silent' }),
    kinds: [plain],
  });
  await jobs.begin({} as Parts);
  await until('the job', () => done.includes('between'), 10_000);
  await jobs.close();
  await orm.close(true);
  await other.drop();
});
