import { afterEach, beforeEach, expect, inject, it } from 'vitest';
import { createDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type Person, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';

/** The lock of a process on its database, as `pg_locks` shows it. */
const OCCUPANCY = 7_011_503;
const HOLDERS = `select l.pid from pg_locks l join pg_database d on d.oid = l.database
  where d.datname = current_database() and locktype = 'advisory' and objid = ${OCCUPANCY} and granted`;

let database: TestDatabase;
let server: TestServer;
let ada: Person;
let fatal: string[];

beforeEach(async () => {
  fatal = [];
  database = await createDatabase();
  const onFatal = (reason: string) => void fatal.push(reason);
  server = await startServer({ database, onFatal, env: { LOG_LEVEL: 'silent' } });
  ada = await signUp(server, 'Ada');
});
afterEach(async () => {
  await server.close();
  await database.drop();
});

const worksFor = async ({ token }: Person) => (await server.call('GET /users', { token })).status === 200;
const works = () => worksFor(ada);
const holders = () => database.query<{ pid: number }>(HOLDERS);

it('takes the lock again when the database has cut all connections', async () => {
  const [before] = await holders();
  await database.query(
    `select pg_terminate_backend(pid, 60000) from pg_stat_activity
      where datname = current_database() and application_name = 'parley'`,
  );
  await until('the server to work again', works);
  await until('the place to be taken again', async () => {
    const [now] = await holders();
    return now !== undefined && now.pid !== before?.pid;
  });
  await expect(startServer({ database })).rejects.toThrow('Another Parley process uses this database');
  expect(fatal).toEqual([]);
});

it('gives up when another process has taken the lock meanwhile', async () => {
  await withClient(database.url, async (other) => {
    const taken = other.query('select pg_advisory_lock($1)', [OCCUPANCY]);
    await until(
      'the other one to wait',
      async () =>
        (
          await database.query(
            `select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`,
          )
        ).length > 0,
    );
    const [mine] = await holders();
    await database.query('select pg_terminate_backend($1)', [mine?.pid]);
    await taken;
    await until('the server to give up', () => fatal.length > 0);
  });
  expect(fatal).toEqual(['Another process took over the database.']);
});

it('is not ready while the database accepts no connections, and is ready again afterwards', async () => {
  const ready = () => fetch(`${server.url}/ready`);
  expect((await ready()).status).toBe(200);
  const cluster = inject('clusterUrl');
  const allow = (allowed: boolean) =>
    withClient(cluster, (client) =>
      client.query(`alter database ${new URL(database.url).pathname.slice(1)} allow_connections ${allowed}`),
    );
  await allow(false);
  await withClient(cluster, (client) =>
    client.query('select pg_terminate_backend(pid, 60000) from pg_stat_activity where datname = $1', [
      new URL(database.url).pathname.slice(1),
    ]),
  );
  const broken = await ready();
  expect([broken.status, await broken.json()]).toMatchObject([
    503,
    { ready: false, parts: { database: { state: 'down', detail: 'does not answer' } } },
  ]);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  const { status, body } = await server.call('GET /users', { token: ada.token });
  expect([status, body.code]).toEqual([503, 'unavailable']);
  await allow(true);
  await until('the server to be ready', async () => (await ready()).status === 200);
  expect(await works()).toBe(true);
});

it('releases the lock when it ends', async () => {
  await server.close();
  expect(await holders()).toEqual([]);
  server = await startServer({ database });
  expect(await holders()).toHaveLength(1);
});

const PLACES = 17;

it('keeps the size of its pool when the database cuts transactions', async () => {
  // One person holds a fifth of the connections at most.
  const people = [ada];
  for (const name of ['Ben', 'Cat', 'Dan', 'Eve']) people.push(await signUpAs(server, ada, name, 'admin'));
  // The tokens are cached now: checking them is a call for the network address, which may hold no more.
  for (const person of people) expect(await worksFor(person)).toBe(true);
  const rename = () =>
    Array.from({ length: PLACES }, (_, i) => {
      const { id, token } = people[i % people.length] ?? ada;
      return server.call(`POST /users/${id}/update`, { token, body: { name: `A ${i}` } });
    });
  await withClient(database.url, async (holder) => {
    // Every connection of the pool waits in a transaction and is cut there; one holds the locks, one listens,
    // and one serves the jobs.
    await holder.query('begin');
    await holder.query('lock table users in access exclusive mode');
    const updates = rename();
    const waiting = `from pg_stat_activity where datname = current_database() and application_name = 'parley'
      and wait_event_type = 'Lock'`;
    await until('all to wait', async () => (await database.query(`select ${waiting}`)).length === PLACES);
    let isAnswered = false;
    const answers = Promise.all(updates).finally(() => {
      isAnswered = true;
    });
    // One of them may have waited for a query of the server itself, and gets its connection afterwards.
    await until('all to be cut', async () => {
      await database.query(`select pg_terminate_backend(pid) ${waiting}`);
      return isAnswered;
    });
    for (const { status } of await answers) expect(status).toBe(503);
    await holder.query('rollback');
  });
  const answers = await Promise.all(rename());
  expect(answers.map(({ status }) => status)).toEqual(Array(PLACES).fill(200));
});
