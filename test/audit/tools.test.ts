import { afterAll, expect, it } from 'vitest';
import { openWorkshop } from '../tools/workshop.ts';

const source = (answer: number) => `from pydantic import BaseModel
class Tools:
    class Valves(BaseModel):
        secret: str = ""
    def __init__(self):
        self.valves = self.Valves()
    def f(self): return ${answer}
`;

const shop = await openWorkshop();
afterAll(() => shop.close());

const entries = async () =>
  (await shop.server.call('GET /audit?target=tool:audited', { token: shop.admin.token })).body.entries;
const update = (content: string, name = 'audited') =>
  shop.as(shop.writer, 'POST', 'audited/update', { name, content, meta: {} });

it('the audit log records the creation, changes, valves and deletion of a tool, without its secrets', async () => {
  expect((await shop.create('audited', source(1))).status).toBe(200);
  expect(
    (await shop.as(shop.writer, 'POST', 'audited/update', { name: 'x', content: '', meta: {} })).status,
  ).not.toBe(200);
  await shop.permit('workspace.tools', true);
  expect((await update(source(2))).status).toBe(200);
  expect((await update(source(2), 'renamed')).status).toBe(200);
  expect((await update(source(2), 'renamed')).status).toBe(200);
  expect(
    (await shop.as(shop.writer, 'POST', 'audited/valves/update', { secret: 'open sesame' })).status,
  ).toBe(200);
  expect((await shop.as(shop.reader, 'DELETE', 'audited/delete')).status).toBe(401);
  expect((await shop.as(shop.author, 'DELETE', 'audited/delete')).status).toBe(200);
  const found = await entries();
  expect(
    found.map(({ action, actor_id }: { action: string; actor_id: string }) => [action, actor_id]),
  ).toEqual([
    ['tool.delete', shop.author.id],
    ['tool.valves', shop.writer.id],
    ['tool.update', shop.writer.id],
    ['tool.content', shop.writer.id],
    ['grants.update', shop.author.id],
    ['tool.create', shop.author.id],
  ]);
  expect(found[3]).toMatchObject({ before: { version: 1 }, after: { version: 2 } });
  expect(found[2]).toMatchObject({ before: { name: 'audited' }, after: { name: 'renamed' } });
  expect(found[1].after).toEqual({ set: ['secret'] });
  expect(JSON.stringify(found)).not.toContain('open sesame');
});
