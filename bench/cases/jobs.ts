import { setTimeout as delay } from 'node:timers/promises';
import type { MikroORM } from '@mikro-orm/postgresql';
import pg from 'pg';
import { pino } from 'pino';
import { z } from 'zod';
import type { Parts } from '../../src/core/scope.ts';
import { migrate, openOrm } from '../../src/database/orm.ts';
import { openSql, type PooledDatabase } from '../../src/database/sql.ts';
import { entities } from '../../src/entities.ts';
import { enqueue, enqueueAll } from '../../src/jobs/enqueue.ts';
import { installQueue } from '../../src/jobs/install.ts';
import { defineJob } from '../../src/jobs/kind.ts';
import { createJobs } from '../../src/jobs/worker.ts';
import { plainResult, type Result } from '../support/report.ts';
import type { Workspace } from '../support/workspace.ts';

const CROWD = 2_000;
const AT_REST_MS = 20_000;

/**
 * Measures the time from the commit that stores a job to its start, against a bare NOTIFY and an update; the
 * rate of many jobs; and the cost of an idle worker.
 */
export async function jobs({ cluster, quick }: Workspace): Promise<Result[]> {
  const databaseUrl = await cluster.createDatabase('jobs');
  const orm = await openOrm(entities, { url: databaseUrl });
  try {
    await migrate(orm, installQueue);
    return await measure(orm, await openSql(orm), databaseUrl, quick);
  } finally {
    await orm.close(true);
  }
}

async function measure(
  orm: MikroORM,
  sql: PooledDatabase,
  databaseUrl: string,
  quick: boolean,
): Promise<Result[]> {
  let onStart = () => {};
  const kind = defineJob({
    name: 'bench.nothing',
    payload: z.object({}),
    run: async () => onStart(),
    timeLimitMs: 1_000,
    attempts: 1,
    concurrency: 16,
  });
  const rounds = quick ? 50 : 500;
  const notices = await noticeTimes(databaseUrl, rounds);
  const idle = await cpuAtRest(quick);
  const worker = createJobs({ orm, sql, log: pino({ level: 'silent' }), kinds: [kind] });
  await worker.begin({} as Parts);
  try {
    const pickUps: number[] = [];
    for (let n = 0; n < rounds; n += 1) {
      const { promise, resolve } = Promise.withResolvers<void>();
      onStart = resolve;
      await enqueue(sql, kind, {});
      const began = performance.now();
      await promise;
      pickUps.push(performance.now() - began);
      await delay(5);
    }
    let left = CROWD;
    const { promise: allDone, resolve } = Promise.withResolvers<void>();
    onStart = () => {
      left -= 1;
      if (left === 0) resolve();
    };
    const began = performance.now();
    await enqueueAll(sql, kind, Array(CROWD).fill({ payload: {} }));
    await allDone;
    const seconds = (performance.now() - began) / 1_000;
    await delay(2_000);
    const resting = await cpuAtRest(quick);
    const [p50, p99] = [0.5, 0.99].map((part) => quantile(pickUps, part));
    return [
      against('a job from commit to start, p50', p50, quantile(notices, 0.5)),
      against('a job from commit to start, p99', p99, quantile(notices, 0.99)),
      plainResult(`${CROWD} jobs stored at once`, 'jobs/s', CROWD / seconds),
      {
        ...plainResult('CPU of a worker at rest, of a second', 'ms', resting),
        baseline: { what: 'without it', figure: idle },
      },
    ];
  } finally {
    await worker.close();
  }
}

/** Milliseconds of CPU time in a second. */
async function cpuAtRest(quick: boolean): Promise<number> {
  const milliseconds = quick ? 2_000 : AT_REST_MS;
  const before = process.cpuUsage();
  await delay(milliseconds);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / milliseconds;
}

const against = (what: string, ours = 0, figure = 0): Result => ({
  ...plainResult(what, 'ms', ours, 50),
  baseline: { what: 'NOTIFY and one update', figure },
  ratio: ours / figure,
});

/** Measures from the answer to a NOTIFY until another connection has received it and changed a row. */
async function noticeTimes(connectionString: string, rounds: number): Promise<number[]> {
  const [teller, listener] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
  await Promise.all([teller.connect(), listener.connect()]);
  await listener.query('create table bench (n int); insert into bench values (0); listen bench');
  const times: number[] = [];
  for (let n = 0; n < rounds; n += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    listener.once('notification', () => resolve());
    await teller.query(`notify bench, '${n}'`);
    const began = performance.now();
    await promise;
    await listener.query('update bench set n = n + 1');
    times.push(performance.now() - began);
    await delay(5);
  }
  await Promise.all([teller.end(), listener.end()]);
  return times;
}

const quantile = (values: number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(part * (values.length - 1))] ?? 0;
