import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTarget } from '../egress/targets.ts';
import { contentsOfEvents, subscribe } from '../events/listen.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { canKeepStatements, startPgBouncer, withoutPgBouncer } from '../support/pgbouncer.ts';
import { until } from '../support/poll.ts';
import { spawnMain } from '../support/process.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import { call, PASSWORD, startServer } from '../support/server.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

/** A database without tables behind PgBouncer. */
async function setUp({ isLimited = true, settings = {} } = {}) {
  const database = await createDatabase({ empty: true });
  undo.push(() => database.drop());
  const name = new URL(database.url).pathname.slice(1);
  if (isLimited) {
    await database.query(`alter database ${name} set statement_timeout = '20s'`);
    await database.query(`alter database ${name} set idle_in_transaction_session_timeout = '20s'`);
  }
  const bouncer = await startPgBouncer(database.url, settings);
  undo.push(() => bouncer.stop());
  return { database, bouncer };
}

describe.skipIf(withoutPgBouncer)('a start with a pool in transaction mode', () => {
  const refusal = (database: TestDatabase, DATABASE_URL: string, DATABASE_SESSION_URL = '') =>
    startServer({ database, env: { DATABASE_URL, DATABASE_SESSION_URL } }).then(
      () => 'The server started.',
      (error: Error) => error.message,
    );

  it('is refused without the address of sessions, or with one that gives none', async () => {
    const { database, bouncer } = await setUp();
    expect(await refusal(database, bouncer.transaction)).toMatch(
      /^Cannot use [^\n]* set DATABASE_SESSION_URL to [^\n]*$/,
    );
    expect(await refusal(database, bouncer.transaction, bouncer.transaction)).toMatch(
      /DATABASE_SESSION_URL is wrong: it gives each transaction another connection/,
    );
  });

  it('is refused when the two addresses lead to different databases', async () => {
    const { database, bouncer } = await setUp();
    const other = await setUp();
    expect(await refusal(database, bouncer.transaction, other.bouncer.session)).toMatch(
      /DATABASE_SESSION_URL is wrong: DATABASE_URL leads to another/,
    );
  });

  it('is refused when the role has no limits of time', async () => {
    const { database, bouncer } = await setUp({ isLimited: false });
    expect(await refusal(database, bouncer.transaction, bouncer.session)).toMatch(
      /run «alter role \w+ set statement_timeout = '20s'/,
    );
  });
});

describe.skipIf(withoutPgBouncer || withoutRedis)('two processes behind a pool in transaction mode', () => {
  const modes: Record<string, number>[] = canKeepStatements
    ? [{ max_prepared_statements: 0 }, { max_prepared_statements: 200 }]
    : [{}];

  it.each(modes)('start together, and lose nothing when PgBouncer ends (%o)', async (settings) => {
    const { start, bouncer } = await setUpProcesses(settings);
    const [here = '', there = ''] = await Promise.all([start(), start()].map(({ ready }) => ready()));
    const { token, post, list } = await makeChannel(here);
    const subscriber = await subscribe(there, token);
    undo.push(() => subscriber.close());
    const heard = () => contentsOfEvents(subscriber.items.map(({ event }) => event));
    await post(here, 'first');
    await until('the event to cross', () => heard().includes('first'));

    const acknowledged: string[] = [];
    let isOver = false;
    const posters = [here, there, here, there].map(async (url, poster) => {
      for (let n = 0; !isOver; n += 1) {
        const content = `${poster}-${n}`;
        const { status } = await post(url, content);
        expect([200, 503]).toContain(status);
        if (status === 200) acknowledged.push(content);
      }
    });
    const served = (count: number) => until('posts', () => acknowledged.length >= count);
    await served(50);
    await bouncer.restart();
    await served(acknowledged.length + 50);
    isOver = true;
    await Promise.all(posters);

    const stored = await list();
    expect(stored).toHaveLength(new Set(stored).size);
    expect(stored).toEqual(expect.arrayContaining(acknowledged));
    await until('all events', () => heard().length >= stored.length);
    expect(heard()).toEqual(stored);
  });

  it('run the job of a process that is killed in the middle of it', async () => {
    let answers = false;
    const target = await startTarget((_request, response) => answers && response.end('ok'));
    undo.push(() => target.close());
    const { start, database } = await setUpProcesses({});
    const hook = { WEBHOOK_URL: `http://127.0.0.1:${target.port}/`, EGRESS_ALLOW: '127.0.0.1' };
    const killed = start(hook);
    await makeChannel(await killed.ready());
    await until('the notice to be sent', () => target.heard.length === 1);
    await start(hook).ready();
    answers = true;
    await killed.stop('SIGKILL');
    await until('the notice to be sent again', () => target.heard.length === 2);
    await until(
      'its end',
      async () => (await database.query('select from graphile_worker.jobs')).length === 0,
    );
  });

  async function setUpProcesses(settings: Record<string, number>) {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    const { database, bouncer } = await setUp({ settings });
    const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-test-'));
    undo.push(() => rm(DATA_DIR, { recursive: true, force: true }));
    const env = {
      ...{ DATA_DIR, REDIS_URL: redis.url, SECRET_KEY: 'a secret that both processes have got' },
      ...{ DATABASE_URL: bouncer.transaction, DATABASE_SESSION_URL: bouncer.session },
    };
    const start = (more: Record<string, string> = {}) => {
      const server = spawnMain({ ...env, ...more });
      undo.push(() => server.stop('SIGKILL'));
      return server;
    };
    return { start, bouncer, database };
  }

  async function makeChannel(url: string) {
    const body = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    const token: string = (await call(url, 'POST /auths/signup', { body })).body.token;
    const { id } = (await call(url, 'POST /channels/create', { token, body: { name: 'general' } })).body;
    const at = `/channels/${id}/messages`;
    const post = (on: string, content: string) => call(on, `POST ${at}/post`, { token, body: { content } });
    /** The contents of all messages, oldest first. */
    async function list(): Promise<string[]> {
      const contents: string[] = [];
      for (let skip = 0; ; skip += 50) {
        const { body: page } = await call(url, `GET ${at}?skip=${skip}&limit=50`, { token });
        contents.push(...page.map(({ content }: { content: string }) => content));
        if (page.length < 50) return contents.reverse();
      }
    }
    return { token, post, list };
  }
});
