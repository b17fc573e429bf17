import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolRunView } from '../../src/tools/tools.runs.schema.ts';
import { until } from '../support/poll.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

const SOURCE = `class Tools:
    def f(self, secret: str = ""): return sum(range(200_000))
    def fail(self): raise ValueError("s3cret")
    def hang(self):
        while True: pass
`;

let shop: Workshop;
beforeAll(async () => {
  shop = await openWorkshop({ callTimeoutMs: 700 });
  await shop.create('worker', SOURCE);
});
afterAll(() => shop.close());

const call = (name: string, args: object = {}, person = shop.reader) =>
  shop.as(person, 'POST', 'worker/call', { function: name, arguments: args });
const runs = async (query = '') => (await shop.as(shop.author, 'GET', `worker/runs${query}`)).body;

describe('runs of a tool', () => {
  it('say who, what, how long and how it ended, and nothing of what was said', async () => {
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
    expect(body[0]).toMatchObject({ cpu_ms: null, peak_memory_bytes: null });
    expect(JSON.stringify(body)).not.toContain('s3cret');
  });

  it('name the version that ran', async () => {
    await shop.as(shop.author, 'POST', 'worker/update', { name: 'w', content: `${SOURCE}# 2\n`, meta: {} });
    await call('f');
    expect((await runs('?limit=1'))[0]).toMatchObject({ function: 'f', version: 2 });
  });

  it('are stored without anybody asking', async () => {
    await call('f');
    const stored = async () => {
      const [row] = await shop.server.database.query<{ n: number }>(
        "select count(*)::int as n from tool_run where function = 'f' and version = 2",
      );
      return row?.n === 2;
    };
    await until('the run to be stored', stored);
  });

  it('come in pages, for those who may write', async () => {
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

  it('of somebody who is gone stay, and those of a tool that is gone do not', async () => {
    await shop.server.call(`DELETE /users/${shop.reader.id}`, { token: shop.admin.token });
    const [run] = (await runs()).filter(({ user_id }: ToolRunView) => user_id === shop.reader.id);
    expect(run.user).toBeNull();
    await call('f', {}, shop.author);
    await shop.as(shop.author, 'DELETE', 'worker/delete');
    await shop.create('worker', SOURCE);
    expect(await runs()).toEqual([]);
  });
});
