import { v7 as uuidv7 } from 'uuid';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { openOrm } from '../../src/database/orm.ts';
import { openSql } from '../../src/database/sql.ts';
import { entities } from '../../src/entities.ts';
import { openRunLog } from '../../src/tools/runs/runs.log.ts';
import { ToolRunView } from '../../src/tools/runs/runs.schema.ts';
import { until } from '../support/poll.ts';
import { openWorkshop } from './workshop.ts';

const SOURCE = `import os, time
class Tools:
    def f(self, secret: str = ""): return sum(range(200_000))
    def fail(self): raise ValueError("s3cret")
    def hang(self):
        time.sleep(60)
    def burn(self, seconds: float):
        end = time.process_time() + seconds
        while time.process_time() < end: pass
    def crash(self):
        x = b"x" * (64 << 20)
        self.burn(0.05)
        os._exit(3)
`;

const shop = await openWorkshop({ callTimeoutMs: 5_000 });
afterAll(() => shop.close());
await shop.create('worker', SOURCE);

const call = (name: string, args: object = {}, person = shop.reader) =>
  shop.as(person, 'POST', 'worker/call', { function: name, arguments: args });
const runs = async (query = '') => (await shop.as(shop.author, 'GET', `worker/runs${query}`)).body;

describe('runs of a tool', () => {
  it('record caller, function, duration and outcome, but no arguments and results', async () => {
    await call('f', { secret: 's3cret' });
    await call('fail');
    await call('f', { secret: {} });
    await call('nothing', {}, shop.author);
    await call('hang');
    const body = await runs();
    expect(z.array(ToolRunView.strict()).parse(body)).toEqual(body);
    expect(body.map((run: ToolRunView) => [run.function, run.outcome, run.user?.name])).toEqual([
      ['hang', 'tool_timeout', 'Reader'],
      ['nothing', 'not_found', 'Author'],
      ['f', 'arguments_invalid', 'Reader'],
      ['fail', 'tool_raised', 'Reader'],
      ['f', 'ok', 'Reader'],
    ]);
    const done = body.at(-1);
    expect(done.cpu_ms).toBeGreaterThan(0);
    expect(done.peak_memory_bytes).toBeGreaterThan(1024 * 1024);
    expect(done.version).toBe(1);
    expect(JSON.stringify(body)).not.toContain('s3cret');
  });

  it('record processor time and memory also when the process ended', async () => {
    await until(
      'the usage of the call that ran out of time',
      async () => (await runs('?limit=1'))[0].cpu_ms > 0,
    );
    await call('burn', { seconds: 1.5 });
    await call('crash');
    const crashed = await until('the usage of the call that crashed', async () => {
      const [run] = await runs('?limit=1');
      return run.cpu_ms !== null && run;
    });
    expect(crashed).toMatchObject({ function: 'crash', outcome: 'tool_raised' });
    // The time of this call, not of all calls of its process.
    expect(crashed.cpu_ms).toBeGreaterThanOrEqual(50);
    expect(crashed.cpu_ms).toBeLessThan(1500);
    expect(crashed.peak_memory_bytes).toBeGreaterThan(64 * 1024 * 1024);
  });

  it('record the version that ran', async () => {
    await shop.as(shop.author, 'POST', 'worker/update', { name: 'w', content: `${SOURCE}# 2\n`, meta: {} });
    await call('f');
    expect((await runs('?limit=1'))[0]).toMatchObject({ function: 'f', version: 2 });
  });

  it('are stored without a request for them', async () => {
    await call('f');
    const stored = async () => {
      const [row] = await shop.server.database.query<{ n: number }>(
        "select count(*)::int as n from tool_run where function = 'f' and version = 2",
      );
      return row?.n === 2;
    };
    await until('the run to be stored', stored);
  });

  it('are listed in pages, for callers with write access', async () => {
    const all = await runs();
    expect((await runs('?skip=1&limit=2')).map(({ id }: ToolRunView) => id)).toEqual(
      all.slice(1, 3).map(({ id }: ToolRunView) => id),
    );
    expect((await shop.as(shop.author, 'GET', 'worker/runs?limit=201')).status).toBe(400);
    expect((await shop.as(shop.author, 'GET', 'nothing/runs')).status).toBe(404);
    for (const person of [null, shop.stranger, shop.reader]) {
      expect((await shop.as(person, 'GET', 'worker/runs')).status).toBe(401);
    }
    expect((await shop.as(shop.writer, 'GET', 'worker/runs')).body).toHaveLength(all.length);
  });

  it('of a deleted user stay, and those of a deleted tool are deleted', async () => {
    await shop.server.call(`DELETE /users/${shop.reader.id}`, { token: shop.admin.token });
    const [run] = (await runs()).filter(({ user_id }: ToolRunView) => user_id === shop.reader.id);
    expect(run.user).toBeNull();
    await call('f', {}, shop.author);
    await shop.as(shop.author, 'DELETE', 'worker/delete');
    await shop.create('worker', SOURCE);
    expect(await runs()).toEqual([]);
  });

  it('are kept up to a number for each tool, and up to an age', async () => {
    await shop.create('other', SOURCE);
    await shop.server.database.query(
      `insert into tool_run (id, tool_id, version, user_id, function, outcome, started_at, duration_ms)
         values ($1, 'other', 1, $3, 'old', 'ok', 0, 1), ($2, 'other', 1, $3, 'young', 'ok', 0, 1)`,
      [
        uuidv7({ msecs: Date.now() - 11 * 86_400_000 }),
        uuidv7({ msecs: Date.now() - 9 * 86_400_000 }),
        shop.author.id,
      ],
    );
    await keep({ runs: 3, days: 10 }, [
      ...[1, 2, 3, 4, 5].map((n) => ({ function: `f${n}` })),
      // A run of a deleted tool that had this id before.
      { function: 'ghost', tool_created_at: 1 },
    ]);
    expect((await runs()).map((one: ToolRunView) => one.function)).toEqual(['f5', 'f4', 'f3']);
    const left = await shop.server.database.query<{ function: string }>(
      "select function from tool_run where tool_id = 'other'",
    );
    expect(left).toEqual([{ function: 'young' }]);
  });

  it('of a caller with many calls do not displace the runs of other callers', async () => {
    const by = (user_id: string, ...names: string[]) => names.map((name) => ({ function: name, user_id }));
    // Up to a tenth more than the limit may stay.
    const left = async () => (await runs()).map((one: ToolRunView) => one.function);
    await keep({ runs: 10, days: 10 }, by(shop.author.id, 'b1', 'b2', 'b3', 'b4', 'b5', 'b6', 'b7', 'b8'));
    expect(await left()).toHaveLength(11);
    await keep({ runs: 6, days: 10 }, [
      ...by(shop.author.id, 'a1', 'a2', 'a3', 'a4'),
      ...by(shop.writer.id, 'w1'),
      ...by(shop.stranger.id, ...Array.from({ length: 700 }, (_, n) => `s${n}`)),
    ]);
    expect(await left()).toEqual(['s699', 's698', 's697', 'w1', 'a4', 'a3']);
  });
});

/** Records runs of `worker` in a log with this retention. */
async function keep(
  retention: { runs: number; days: number },
  made: { function: string; user_id?: string; tool_created_at?: number }[],
): Promise<void> {
  const { database } = shop.server;
  const orm = await openOrm(entities, { url: database.url });
  const errors: unknown[] = [];
  const log = openRunLog(await openSql(orm), (error) => errors.push(error), { ...retention, pruneMs: 0 });
  const [tool] = await database.query<{ created_at: number }>(
    "select created_at from tool where id = 'worker'",
  );
  const run = {
    tool_id: 'worker',
    tool_created_at: tool?.created_at ?? 0,
    version: 1,
    user_id: shop.author.id,
    outcome: 'ok',
    started_at: 0,
    duration_ms: 1,
    cpu_ms: null,
    peak_memory_bytes: null,
  };
  for (const one of made) log.record({ ...run, ...one });
  await log.close();
  await orm.close(true);
  expect(errors).toEqual([]);
}
