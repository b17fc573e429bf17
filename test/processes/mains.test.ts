import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { startTarget } from '../egress/targets.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type ServerProcess, spawnMain } from '../support/process.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import { call, PASSWORD, startServer } from '../support/server.ts';
import { listenBySocketIo } from '../support/sockets.ts';

/** Real processes on a shared database. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function newDatabase(options?: { empty: boolean }) {
  const database = await createDatabase(options);
  undo.push(() => database.drop());
  return database;
}

/** The line with which a start in this process is refused. */
async function refusal(database: TestDatabase, env: Record<string, string>): Promise<string> {
  const started = startServer({ database, env });
  started.then((server) => undo.push(() => server.close())).catch(() => {});
  return started.then(
    () => 'The server started.',
    (error: Error) => error.message,
  );
}

async function launch(env: Record<string, string>): Promise<ServerProcess> {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'parley-test-'));
  const server = spawnMain({ DATA_DIR, ...env });
  undo.push(async () => {
    await server.stop('SIGKILL');
    await rm(DATA_DIR, { recursive: true, force: true });
  });
  return server;
}

describe('a second process on the same database', () => {
  it('refuses to start without REDIS_URL, in one line, and starts when the first has ended', async () => {
    const database = await newDatabase();
    const env = { DATABASE_URL: database.url, SECRET_KEY: 'a secret that all processes have got' };
    const first = await launch(env);
    await first.ready();
    const second = await launch(env);
    expect(await second.ended()).toEqual({ code: 1, signal: null });
    expect(second.output.stdout).toBe('');
    expect(second.output.stderr).toBe(
      'Another Parley process uses this database. Stop it, or set REDIS_URL for all of them to run several.\n',
    );
    expect(await first.stop('SIGKILL')).toEqual({ code: null, signal: 'SIGKILL' });
    const third = await startServer({ database, env });
    await third.close();
  });

  it('one of two concurrent starts succeeds, and the tables are whole', async () => {
    const { url: DATABASE_URL, query } = await newDatabase({ empty: true });
    const both = await Promise.all([launch({ DATABASE_URL }), launch({ DATABASE_URL })]);
    const outcomes = await Promise.all(
      both.map((server) =>
        server.ready().then(
          () => 'runs',
          () => server.output.stderr,
        ),
      ),
    );
    expect(outcomes.toSorted()).toEqual([expect.stringMatching(/^Another Parley process.*\n$/), 'runs']);
    expect(await query('select name from mikro_orm_migrations group by name having count(*) > 1')).toEqual(
      [],
    );
  });

  it.skipIf(withoutRedis)(
    'refuses also when only one of them has REDIS_URL, or with another secret',
    async () => {
      const redis = await startRedis();
      undo.push(() => redis.stop());
      const database = await newDatabase();
      const REDIS_URL = redis.url;
      const SECRET_KEY = 'a secret that all processes have got';
      await (await launch({ DATABASE_URL: database.url, REDIS_URL, SECRET_KEY })).ready();
      expect(await refusal(database, { SECRET_KEY })).toMatch(
        /^Another Parley process uses this database[^\n]*$/,
      );
      expect(
        await refusal(database, { REDIS_URL, SECRET_KEY: 'a secret that is different in this process' }),
      ).toBe(
        'Another Parley process uses this database with another secret. Set the same SECRET_KEY for all of them.',
      );
    },
  );
});

describe.skipIf(withoutRedis)('two processes with one Redis', () => {
  it('start at the same moment on an empty database, and work together', async () => {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    const { url: DATABASE_URL, query } = await newDatabase({ empty: true });
    const env = { DATABASE_URL, REDIS_URL: redis.url, SECRET_KEY: 'a secret that both processes have got' };
    const servers = await Promise.all([launch(env), launch(env)]);
    const [here = '', there = ''] = await Promise.all(servers.map((server) => server.ready()));
    expect(await query('select name from mikro_orm_migrations group by name having count(*) > 1')).toEqual(
      [],
    );

    const accounts = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        call(i % 2 ? there : here, 'POST /auths/signup', {
          body: { email: `p${i}@example.com`, name: `P${i}`, password: PASSWORD },
        }),
      ),
    );
    const administrators = accounts.filter(({ body }) => body.role === 'admin');
    expect(administrators).toHaveLength(1);
    const token: string = administrators[0]?.body.token;

    const channel = await call(here, 'POST /channels/create', { token, body: { name: 'general' } });
    const listener = await listenBySocketIo(there, token);
    await call(here, `POST /channels/${channel.body.id}/messages/post`, {
      token,
      body: { content: 'hello' },
    });
    await until('the message to cross', () => listener.events.some(({ content }) => content === 'hello'));

    const { body } = await call(here, 'GET /configs/export', { token });
    body.ui.watermark = 'crossed';
    await call(here, 'POST /configs/import', { token, body });
    await until(
      'the configuration to cross',
      async () => (await call(there, 'GET /configs/export', { token })).body.ui.watermark === 'crossed',
    );

    await call(here, 'POST /auths/signout', { token });
    await until(
      'the sign-out to cross',
      async () => (await call(there, 'GET /auths', { token })).status === 401,
    );
    await until('the socket to end', () => listener.ended);
    for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null });
  });

  it('run the job of a process that is killed in the middle of it', async () => {
    const redis = await startRedis();
    undo.push(() => redis.stop());
    let answers = false;
    const target = await startTarget((_request, response) => answers && response.end('ok'));
    undo.push(() => target.close());
    const { url: DATABASE_URL, query } = await newDatabase();
    const env = {
      ...{ DATABASE_URL, REDIS_URL: redis.url, SECRET_KEY: 'a secret that both processes have got' },
      ...{ WEBHOOK_URL: `http://127.0.0.1:${target.port}/signups`, EGRESS_ALLOW: '127.0.0.1' },
    };
    const killed = await launch(env);
    const body = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    await call(await killed.ready(), 'POST /auths/signup', { body });
    await until('the notice to be sent', () => target.heard.length === 1);
    const other = await launch(env);
    await other.ready();
    answers = true;
    await killed.stop('SIGKILL');
    await until('the notice to be sent again', () => target.heard.length === 2);
    await until('its end to be written', async () => {
      const [row] = await query('select status, attempts from delivery');
      return row?.status === 'delivered' && row.attempts === 2;
    });
    const ids = target.heard.map(({ headers }) => headers['x-parley-delivery']);
    expect(ids[0]).toBe(ids[1]);
    expect(await query('select from graphile_worker.jobs')).toEqual([]);
  });
});
