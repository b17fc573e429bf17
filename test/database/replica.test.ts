import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contentsOfEvents, type Subscription, subscribe } from '../events/listen.ts';
import { createDatabase, inDatabase, type TestDatabase, withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type OldPostgres, startOldPostgres, startReplica, withoutOldPostgres } from '../support/postgres.ts';
import { startRedis, type TestRedis, withoutRedis } from '../support/redis.ts';
import { type Person, signUpAll, startServer, type TestServer } from '../support/server.ts';

/** Two servers on a primary and its streaming replica. */
describe.skipIf(withoutOldPostgres || withoutRedis)('with DATABASE_READ_URL', () => {
  let primary: OldPostgres;
  let replica: OldPostgres;
  let database: TestDatabase;
  let redis: TestRedis;
  let here: TestServer;
  let there: TestServer;
  let root: Person;
  let ann: Person;
  let channel: string;

  const start = (readUrl: string) =>
    startServer({
      database,
      env: { DATABASE_READ_URL: readUrl, REDIS_URL: redis.url, LOG_LEVEL: 'silent' },
    });
  const inReplica = () =>
    inDatabase(replica.url, new URL(database.url).pathname.slice(1)).replace('parley@', 'app@');
  const askReplica = (text: string) => withClient(replica.url, (client) => client.query(text));

  beforeAll(async () => {
    primary = await startOldPostgres();
    // As for an operator, the role is no superuser.
    await withClient(primary.url, (client) => client.query('create role app login createdb'));
    replica = await startReplica(primary);
    redis = await startRedis();
    database = await createDatabase({ clusterUrl: primary.url.replace('parley@', 'app@') });
    here = await start(inReplica());
    there = await start(inReplica());
    [root, ann] = await signUpAll(here, 'Root', 'Ann');
    const access_grants = [{ principal_type: 'user', principal_id: ann.id, permission: 'write' }];
    channel = (await here.as(root)('POST /channels/create', { name: 'general', access_grants })).body.id;
  });
  afterAll(async () => {
    await here.close();
    await there.close();
    await database.drop();
    await redis.stop();
    await replica.stop();
    await primary.stop();
  });
  beforeEach(() => untilReady(there, 'ok'));

  const stateOf = async ({ url }: TestServer) => {
    const answer = await fetch(`${url}/ready`);
    const { parts } = (await answer.json()) as { parts: { replica: { state: string; detail: string } } };
    return { status: answer.status, ...parts.replica };
  };
  const untilReady = (server: TestServer, state: string) =>
    until('the replica', async () => (await stateOf(server)).state === state);
  let posted = 0;
  const post = async (by: Person = root) => {
    posted += 1;
    const content = `post ${posted}`;
    const { status } = await here.as(by)(`POST /channels/${channel}/messages/post`, { content });
    expect(status).toBe(200);
    return content;
  };
  const list = async (server: TestServer, by: Person = ann) => {
    const { status, body } = await server.as(by)(`GET /channels/${channel}/messages`);
    return status === 200 ? body.map(({ content }: { content: string }) => content) : status;
  };
  /** How many reads the replica has answered. */
  async function answered({ url }: TestServer): Promise<number> {
    const headers = { authorization: `Bearer ${root.token}` };
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    const [, value = 0] = /replica_reads_total\{outcome="replica"\} (\d+)/.exec(text) ?? [];
    return Number(value);
  }

  it('lists, searches and counts are answered by the replica', async () => {
    const before = await answered(there);
    const content = await post();
    expect(await list(there)).toContain(content);
    expect((await there.as(ann)(`GET /channels/messages/search?q=post`)).status).toBe(200);
    expect((await there.as(root)('GET /users')).body.total).toBe(2);
    expect(await answered(there)).toBeGreaterThan(before + 2);
  });

  const heard = ({ items }: Subscription) => contentsOfEvents(items.map(({ event }) => event));

  it('every write is in the next list of every process, while a replica is late', async () => {
    await askReplica(`alter system set recovery_min_apply_delay = '15ms'`);
    await askReplica('select pg_reload_conf()');
    const listener = await subscribe(there.url, ann.token);
    const before = await answered(there);
    for (let round = 0; round < 30; round += 1) {
      const content = await post();
      if (round % 2) await until('the event', () => heard(listener).includes(content));
      expect(await list(there)).toContain(content);
    }
    expect(await answered(there)).toBeGreaterThan(before);
    listener.close();
    await askReplica('alter system reset recovery_min_apply_delay');
    await askReplica('select pg_reload_conf()');
  });

  it('the primary answers while the replica stands still, and a right that is lost is lost at once', async () => {
    await askReplica('select pg_wal_replay_pause()');
    const content = await post();
    expect(await list(there)).toContain(content);
    expect(await stateOf(there)).toEqual({ status: 200, state: 'degraded', detail: 'is behind' });
    await here.as(root)(`POST /channels/${channel}/update`, { name: 'general', access_grants: [] });
    expect(await list(there)).toBe(403);
    await askReplica('select pg_wal_replay_resume()');
    await untilReady(there, 'ok');
    expect(await list(there)).toBe(403);
  });

  it('the primary answers while the replica is down', async () => {
    await replica.end();
    const content = await post();
    expect(await list(there, root)).toContain(content);
    await untilReady(there, 'degraded');
    expect(await stateOf(there)).toEqual({ status: 200, state: 'degraded', detail: 'does not answer' });
    await replica.start();
  });

  it('the primary answers when the address leads to another database', async () => {
    const other = await start(replica.url);
    const content = await post();
    expect(await list(other, root)).toContain(content);
    expect(await stateOf(other)).toMatchObject({ status: 200, state: 'degraded' });
    await other.close();
  });

  it('the primary answers when the replica is promoted', async () => {
    await askReplica('select pg_promote()');
    const written = `update message set content = 'of another history'`;
    await withClient(inReplica(), (client) => client.query(written));
    const content = await post();
    const contents = await list(there, root);
    expect(contents).toContain(content);
    expect(contents).not.toContain('of another history');
    await untilReady(there, 'degraded');
  });
});
