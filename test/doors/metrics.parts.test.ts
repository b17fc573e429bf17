import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { startTarget } from '../egress/targets.ts';
import { listenBySocket } from '../events/listen.ts';
import { withClient } from '../support/database.ts';
import { scrape } from '../support/metrics.ts';
import { until } from '../support/poll.ts';
import { type Person, signUpAll, signUpAs, startServer } from '../support/server.ts';
import { openWorkshop } from '../tools/workshop.ts';
import { follow, setStage } from '../webhooks/stage.ts';

describe('tools', async () => {
  const shop = await openWorkshop({ callTimeoutMs: 10_000, callsPerPerson: 1 });
  afterAll(() => shop.close());
  await shop.create(
    'worker',
    `import threading, time
GATE = threading.Event()
class Tools:
    def f(self): return 1
    def fail(self): raise ValueError("x")
    def hang(self): time.sleep(60)
    def wait(self): GATE.wait()
    def open(self): GATE.set()
`,
  );
  const now = () => scrape(shop.server.url, shop.admin.token);
  const call = (name: string, person = shop.reader) =>
    shop.as(person, 'POST', 'worker/call', { function: name, arguments: {} });

  it('count their calls and durations by outcome', async () => {
    const name = 'parley_tool_call_duration_seconds';
    const before = await now();
    for (const asked of ['f', 'f', 'fail', 'nothing', 'hang']) await call(asked);
    const after = await now();
    const more = (outcome: string) =>
      after.value(`${name}_count`, { outcome }) - before.value(`${name}_count`, { outcome });
    expect(['ok', 'tool_raised', 'not_found', 'tool_timeout', 'internal'].map(more)).toEqual([2, 1, 1, 1, 0]);
    // The call was stopped after its time limit, not before.
    expect(after.value(`${name}_sum`, { outcome: 'tool_timeout' })).toBeGreaterThan(9.9);
  });

  it('report running and waiting calls', async () => {
    expect((await now()).value('parley_python_ready')).toBe(1);
    await call('f');
    const calls = [1, 2, 3].map(() => call('wait'));
    await until('one to run and the others to wait', async () => {
      const { value } = await now();
      return value('parley_tool_calls_running') === 1 && value('parley_tool_calls_waiting') === 2;
    });
    const { value } = await now();
    expect(value('parley_tool_processes')).toBeGreaterThan(0);
    expect(value('parley_tool_processes')).toBeLessThanOrEqual(value('parley_tool_processes_max'));
    expect((await call('open', shop.writer)).status).toBe(200);
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await until('nothing to run', async () => (await now()).value('parley_tool_calls_running') === 0);
  });
});

describe('notifications', async () => {
  const stage = await setStage();
  afterAll(() => stage.close());
  const now = () => scrape(stage.server.url, stage.root.token);
  const attempts = async () => {
    const { value } = await now();
    return ['delivered', 'failed', 'retried'].map((outcome) =>
      value('parley_notification_attempts_total', { outcome }),
    );
  };

  it.each([
    [200, [1, 0, 0]],
    [404, [0, 1, 0]],
    [503, [0, 0, 1]],
  ])('count attempts by outcome: an answer of %i', async (status, expected) => {
    const hook = await startTarget((_request, response) => response.writeHead(status).end());
    onTestFinished(() => hook.close());
    const reader = await stage.person(`Reader${status}`);
    const channelId = await stage.channel(`answers-${status}`);
    await follow(stage, reader, hook.url, channelId);
    const before = await attempts();
    await stage.post(channelId, 'hello');
    const more = async () => (await attempts()).map((count, at) => count - (before[at] ?? 0));
    await until('the attempt', async () => (await more()).some((count) => count > 0));
    expect(await more()).toEqual(expected);
  });

  it('report notifications on their way', async () => {
    const held: (() => void)[] = [];
    const hook = await startTarget((_request, response) => {
      held.push(() => response.writeHead(200).end());
    });
    onTestFinished(() => hook.close());
    const reader = await stage.person('Slow');
    const channelId = await stage.channel('slow');
    await follow(stage, reader, hook.url, channelId);
    for (let n = 0; n < 6; n += 1) await stage.post(channelId, `hello ${n}`);
    // At most four are sent to one server at a time.
    await until('four on their way and two that wait', async () => {
      const { value } = await now();
      return value('parley_notifications_sending') === 4 && value('parley_notifications_waiting') === 2;
    });
    await until('nothing to be on its way', async () => {
      for (const answer of held.splice(0)) answer();
      const { value } = await now();
      return value('parley_notifications_sending') + value('parley_notifications_waiting') === 0;
    });
  });
});

describe('the database', async () => {
  const server = await startServer({ env: { METRICS_TOKEN: 'x'.repeat(32), LOG_LEVEL: 'silent' } });
  afterAll(() => server.close());
  const [root, ann, ben] = await signUpAll(server, 'Root', 'Ann', 'Ben');
  const now = () => scrape(server.url, 'x'.repeat(32));
  const holdUp = <T>(work: () => Promise<T>) =>
    withClient(server.database.url, async (client) => {
      await client.query('begin; lock table channel in access exclusive mode');
      return work();
    });

  it('serves other callers while one person has more running calls than may wait', async () => {
    const batch = Array(20).fill('channels.listAll').join();
    const callTwenty = async () => {
      const response = await fetch(`${server.url}/trpc/${batch}?batch=1&input={}`, {
        headers: { authorization: `Bearer ${root.token}` },
      });
      const answers = (await response.json()) as { error?: { data: { httpStatus: number } } }[];
      return answers.map(({ error }) => error?.data.httpStatus ?? 200);
    };
    const listener = await listenBySocket(server.url, ann.token);
    const { inUse, calls } = await holdUp(async () => {
      const calls = Array.from({ length: 30 }, callTwenty);
      const pictureFor = ({ token }: Person) =>
        fetch(`${server.url}/api/v1/users/${root.id}/profile/image`, {
          headers: { authorization: `Bearer ${token}` },
        });
      const refusalOf = async <T extends { status: number }>(ask: () => Promise<T>) => {
        let refused: T | undefined;
        // A call that is admitted is answered only when the table is free.
        const note = (answer: T) => {
          if (answer.status === 429) refused = answer;
        };
        await until('no more to be let in', () => {
          void ask().then(note, () => {});
          return refused !== undefined;
        });
        return refused;
      };
      const refused = await refusalOf(() => server.as(root)('GET /users/search?query=a'));
      expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
      expect(refused?.headers.get('retry-after')).toBe('1');
      expect((await refusalOf(() => pictureFor(root)))?.status).toBe(429);

      const { value } = await now();
      const inUse = value('parley_database_connections', { state: 'in_use' });
      const asAnn = server.as(ann);
      expect((await asAnn('GET /users/search?query=a')).status).toBe(200);
      expect((await pictureFor(ann)).status).toBe(200);
      const wrong = { email: ben.email, password: 'a wrong password' };
      expect((await server.call('POST /auths/signin', { body: wrong })).body.code).toBe('credentials_wrong');
      expect(await listener.socket.timeout(60_000).emitWithAck('heartbeat', {})).toBeUndefined();
      listener.close();
      return { inUse, calls };
    });
    expect(inUse).toBeLessThan(20);
    const statuses = (await Promise.all(calls)).flat();
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(600 - 32 - 512);
    expect(statuses).toContain(200);
  });

  it('makes calls wait when all connections are taken; a call that waits too long gets an error at every door', async () => {
    const before = await now();
    const most = before.value('parley_database_connections_max');
    expect(most).toBeGreaterThan(0);
    // The server uses some connections itself for moments. A call counts once it holds a connection, or waits
    // for one.
    const areHeld = async () => {
      const [row] = await server.database.query<{ count: number }>(
        `select count(*)::int from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      const { value } = await now();
      const inUse = value('parley_database_connections', { state: 'in_use' });
      return inUse === most && (row?.count ?? 0) + value('parley_database_waiting') >= most;
    };
    const people = [root, ann, ben];
    for (const name of ['Cleo', 'Dan', 'Eve']) people.push(await signUpAs(server, root, name, 'user'));
    const held = await holdUp(async () => {
      // Each may hold a fifth of the connections.
      const calls = Array.from({ length: 3 * most }, (_, n) =>
        server.as(people[n % people.length] ?? root)('GET /channels'),
      );
      await until('all connections to be in use', areHeld);
      // A statement, a unit of work, and a tRPC procedure.
      const late = [
        server.as(root)('GET /users'),
        server.as(root)('POST /groups/create', { name: 'late', description: '' }),
        server.as(root)('POST /channels/create', { name: 'late' }),
        fetch(`${server.url}/trpc/users.list?input=${encodeURIComponent('{}')}`, {
          headers: { authorization: `Bearer ${root.token}` },
        }),
      ];
      await until('them to wait', async () => (await now()).value('parley_database_waiting') >= late.length);
      const answers = await Promise.all(late);
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
      expect(answers.map(({ headers }) => headers.get('retry-after'))).toEqual(['1', '1', '1', '1']);
      for (const answer of answers.slice(0, 3)) {
        expect(answer.body).toMatchObject({
          code: 'unavailable',
          detail: expect.stringContaining('database'),
        });
      }
      return calls;
    });
    // Some of these also waited too long.
    const statuses = new Set((await Promise.all(held)).map(({ status }) => status));
    expect(statuses).toContain(200);
    expect([...statuses].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    const after = await now();
    expect(after.value('parley_database_refused_total')).toBeGreaterThanOrEqual(4);
    expect(after.value('parley_database_waits_total')).toBeGreaterThanOrEqual(4);
    expect(after.value('parley_database_wait_seconds_total')).toBeGreaterThan(4);
    expect(after.value('parley_database_waiting')).toBe(0);
    expect((await server.as(root)('GET /users')).status).toBe(200);
  });
});
