import { afterEach, describe, expect, it } from 'vitest';
import { egressToHere, startTarget } from '../egress/targets.ts';
import { createDatabase } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { startRedis, withoutRedis } from '../support/redis.ts';
import { startServer } from '../support/server.ts';
import { deliveriesOf, follow, setStage } from './stage.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

const SECRET_KEY = 'a secret that both processes have got';

function keep<T>(made: T, end: (made: T) => unknown): T {
  undo.push(() => end(made));
  return made;
}

it('a delivery that was running when the server stopped is made by the next server', async () => {
  const database = keep(await createDatabase(), (made) => made.drop());
  const egress = keep(egressToHere(), (made) => made.close());
  let answers = false;
  const target = keep(await startTarget((_request, response) => answers && response.end('ok')), (made) =>
    made.close(),
  );
  const env = { SECRET_KEY };
  const stage = await setStage({ database, env });
  const reader = await stage.person('Reader');
  const channelId = await stage.channel('news');
  await follow(stage, reader, target.url, channelId);
  await stage.post(channelId, 'before');
  await until('the first attempt', () => target.heard.length === 1);
  await stage.close();
  const [row] = await database.query('select status, attempts, next_attempt_at from delivery');
  expect(row).toMatchObject({ status: 'pending', attempts: 0 });
  answers = true;
  const next = keep(await startServer({ database, env, egress }), (made) => made.close());
  await deliveriesOf(
    { ...stage, server: next, as: () => (request) => next.call(request, { token: reader.token }) },
    reader,
    ([one]) => one?.status === 'delivered',
  );
  expect(target.heard.map(({ body }) => JSON.parse(body).message)).toEqual(['before', 'before']);
  const ids = target.heard.map(({ headers }) => headers['x-parley-delivery']);
  expect(ids[0]).toBe(ids[1]);
});

it('a delivery of a dead process is taken over, and the dead process writes nothing any more', async () => {
  const stage = keep(await setStage(), (made) => made.close());
  const release: (() => void)[] = [];
  const target = keep(
    await startTarget((_request, response) => {
      release.push(() => response.writeHead(release.length > 1 ? 404 : 200).end());
      if (release.length === 2) response.end('ok');
    }),
    (made) => made.close(),
  );
  const reader = await stage.person('Reader');
  const channelId = await stage.channel('news');
  await follow(stage, reader, target.url, channelId);
  await stage.post(channelId, 'twice');
  await until('the first attempt', () => target.heard.length === 1);
  // Imitates a process that is gone while the first attempt hangs.
  await stage.server.database.query(
    'select graphile_worker.force_unlock_workers(array(select locked_by from graphile_worker.jobs))',
  );
  await deliveriesOf(stage, reader, ([one]) => one?.status === 'delivered');
  release[0]?.();
  await stage.post(channelId, 'a later one');
  await until('the later one', () => target.heard.length === 3);
  const { body } = await stage.as(reader)('GET /users/user/deliveries');
  expect(body.at(-1)).toMatchObject({ status: 'delivered', attempts: 2, response_status: 200 });
});

it('deliveries that wait without a job, as after an upgrade or a restore, are made after the start', async () => {
  const database = keep(await createDatabase(), (made) => made.drop());
  const egress = keep(egressToHere(), (made) => made.close());
  let status = 503;
  const target = keep(await startTarget((_request, response) => response.writeHead(status).end()), (made) =>
    made.close(),
  );
  const env = { SECRET_KEY };
  const stage = await setStage({ database, env });
  const reader = await stage.person('Reader');
  const channelId = await stage.channel('news');
  await follow(stage, reader, target.url, channelId);
  await stage.post(channelId, 'waits');
  await deliveriesOf(stage, reader, ([one]) => one?.response_status === 503);
  await stage.close();
  await database.query('delete from graphile_worker._private_jobs');
  await database.query('update delivery set next_attempt_at = 0');
  status = 200;
  const next = keep(await startServer({ database, env, egress }), (made) => made.close());
  await until('the second attempt', () => target.heard.length === 2);
  await deliveriesOf(
    { ...stage, server: next, as: () => (request) => next.call(request, { token: reader.token }) },
    reader,
    ([one]) => one?.status === 'delivered' && one.attempts === 2,
  );
});

describe.skipIf(withoutRedis)('two processes', () => {
  it('share the work, and send nothing twice', async () => {
    const redis = keep(await startRedis(), (made) => made.stop());
    const database = keep(await createDatabase(), (made) => made.drop());
    const egress = keep(egressToHere(), (made) => made.close());
    const target = keep(await startTarget(), (made) => made.close());
    const env = { SECRET_KEY, REDIS_URL: redis.url };
    const stage = keep(await setStage({ database, env }), (made) => made.close());
    const there = keep(await startServer({ database, env, egress }), (made) => made.close());
    const reader = await stage.person('Reader');
    const channelId = await stage.channel('news');
    await follow(stage, reader, target.url, channelId);
    const posts = Array.from({ length: 60 }, (_, n) =>
      (n % 2 ? there : stage.server).call(`POST /channels/${channelId}/messages/post`, {
        token: stage.root.token,
        body: { content: `message ${n}` },
      }),
    );
    expect((await Promise.all(posts)).map(({ status }) => status)).toEqual(posts.map(() => 200));
    await until('all to be delivered', async () => {
      const [row] = await database.query<{ n: number }>(
        `select count(*)::int as n from delivery where status = 'delivered'`,
      );
      return row?.n === posts.length;
    });
    const ids = target.heard.map(({ headers }) => headers['x-parley-delivery']);
    expect(new Set(ids).size).toBe(posts.length);
    expect(ids).toHaveLength(posts.length);
  });
});
