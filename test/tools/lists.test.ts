import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ToolExport, ToolListing } from '../../src/tools/tools.schema.ts';
import { grant } from '../support/channels.ts';
import type { Person } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { openWorkshop } from './workshop.ts';

const SOURCE = `from pydantic import BaseModel
class Tools:
    class UserValves(BaseModel):
        tone: str = "dry"
    def f(self, zeta: int, alpha: str): pass
`;
const PLAIN = 'class Tools:\n    def f(self): return 1\n';

const shop = await openWorkshop();
afterAll(() => shop.close());

beforeAll(async () => {
  await shop.create('rich', SOURCE);
  await shop.create('plain', PLAIN);
  await shop.server.call('POST /tools/create', {
    token: shop.admin.token,
    body: { id: 'hidden', name: 'hidden', content: PLAIN, meta: {} },
  });
});

const get = async (person: Person | null, path: string) =>
  shop.server.call(`GET /tools${path}`, { token: person?.token });
const ids = (body: { id: string }[]) => body.map(({ id }) => id).sort();
const sources = (body: { id: string; content?: string }[]) => ids(body.filter(({ content }) => content));

describe('the lists of tools', () => {
  it.each(['', '/', '/list', '/list/'])(
    'GET /tools%s returns the tools that the caller may read',
    async (path) => {
      expect((await get(null, path)).status).toBe(401);
      expect((await get(shop.stranger, path)).body).toEqual([]);
      for (const person of [shop.author, shop.writer, shop.reader]) {
        expect(ids((await get(person, path)).body)).toEqual(['plain', 'rich']);
      }
      expect(ids((await get(shop.admin, path)).body)).toEqual(['hidden', 'plain', 'rich']);
    },
  );

  it.each([
    ['', ToolListing],
    ['/list', ToolListing],
    ['/export', ToolExport],
  ])('GET /tools%s matches its schema', async (path, view) => {
    const { body } = await get(shop.admin, path);
    expect(z.array(view.strict()).parse(body)).toEqual(body);
    const [rich] = body.filter(({ id }: { id: string }) => id === 'rich');
    // In the order of the source, not of the alphabet.
    expect(Object.keys(rich.specs[0].parameters.properties)).toEqual(['zeta', 'alpha']);
    expect(rich.access_grants).toHaveLength(2);
  });

  it('show the address of the creator only to administrators and to the creator', async () => {
    for (const path of ['', '/list']) {
      for (const [person, address] of [
        [shop.reader, ''],
        [shop.writer, ''],
        [shop.author, 'author@example.com'],
        [shop.admin, 'author@example.com'],
      ] as const) {
        const { body } = await get(person, path);
        const [rich] = body.filter(({ id }: { id: string }) => id === 'rich');
        expect(rich.user).toEqual({ id: shop.author.id, name: 'Author', role: 'user', email: address });
        expect(rich.meta.has_user_valves).toBe(true);
      }
    }
  });

  it('name the creator without the address, and say whether the tool has settings', async () => {
    const { body } = await get(shop.reader, '/list');
    const byId = Object.fromEntries(body.map((tool: { id: string }) => [tool.id, tool]));
    expect(byId.rich).toMatchObject({
      user: { id: shop.author.id, name: 'Author', role: 'user' },
      has_user_valves: true,
      write_access: false,
    });
    expect(byId.plain.has_user_valves).toBe(false);
    expect(JSON.stringify(body)).not.toContain('author@');
  });

  it('include the source only in /tools/list, for callers who may change it', async () => {
    expect(sources((await get(shop.admin, '')).body)).toEqual([]);
    expect(sources((await get(shop.reader, '/list')).body)).toEqual([]);
    for (const person of [shop.writer, shop.author]) {
      expect(sources((await get(person, '/list')).body)).toEqual(['plain', 'rich']);
    }
  });

  it.each(['', '/list', '/export'])('GET /tools%s runs one statement', async (path) => {
    const statements = await recordStatements(() => get(shop.admin, path));
    expect(statements.filter((text) => /from tool/.test(text))).toHaveLength(1);
  });
});

describe('GET /tools/export', () => {
  it('requires its permission, and includes the source for callers who may change it', async () => {
    expect((await get(null, '/export')).status).toBe(401);
    expect((await get(shop.author, '/export')).body.code).toBe('tool_forbidden');
    await shop.permit('workspace.tools_export', true);
    const { body } = await get(shop.author, '/export');
    expect(sources(body)).toEqual(['plain', 'rich']);
    expect(body[0]).not.toHaveProperty('valves');
    const read = (await get(shop.reader, '/export')).body;
    expect([ids(read), sources(read)]).toEqual([['plain', 'rich'], []]);
    await shop.permit('workspace.tools_export', false);
    expect(sources((await get(shop.admin, '/export')).body)).toEqual(['hidden', 'plain', 'rich']);
  });
});

describe('POST /tools/id/{id}/access/update', () => {
  const share = (person: Person | null, access_grants: unknown, id = 'plain') =>
    shop.as(person, 'POST', `${id}/access/update`, { access_grants });
  const principals = (body: { access_grants: { principal_id: string; permission: string }[] }) =>
    body.access_grants.map(({ principal_id, permission }) => `${principal_id} ${permission}`).sort();

  it('replaces all grants and answers like GET', async () => {
    const { status, body } = await share(shop.author, [
      grant(shop.stranger.id, 'read'),
      grant(shop.stranger.id, 'read'),
      grant(shop.writer.id, 'write'),
    ]);
    expect(status).toBe(200);
    expect(principals(body)).toEqual([`${shop.stranger.id} read`, `${shop.writer.id} write`].sort());
    expect(body).toEqual((await shop.as(shop.author, 'GET', 'plain')).body);
    expect((await shop.as(shop.stranger, 'GET', 'plain')).status).toBe(200);
    expect((await shop.as(shop.reader, 'GET', 'plain')).status).toBe(401);
    expect((await shop.as(shop.writer, 'GET', 'plain')).body.write_access).toBe(true);
    expect((await share(shop.author, [])).body.access_grants).toEqual([]);
  });

  it('requires write access', async () => {
    await share(shop.author, [grant(shop.writer.id, 'write'), grant(shop.reader.id, 'read')]);
    expect((await share(null, [])).status).toBe(401);
    for (const person of [shop.stranger, shop.reader]) {
      expect((await share(person, [])).body.code).toBe('tool_forbidden');
    }
    expect((await share(shop.author, [], 'nothing')).status).toBe(404);
    expect(principals((await shop.as(shop.author, 'GET', 'plain')).body)).toHaveLength(2);
    expect((await share(shop.writer, [grant(shop.writer.id, 'write')])).status).toBe(200);
  });

  it.each([
    ['no grants', undefined],
    ['a text in place of a list', 'everyone'],
    ['an unknown permission', [{ principal_type: 'user', principal_id: '*', permission: 'own' }]],
    ['an unknown kind of principal', [{ principal_type: 'robot', principal_id: '*', permission: 'read' }]],
    ['too many grants', Array.from({ length: 1001 }, () => grant('*', 'read'))],
  ])('refuses %s', async (_what, grants) => {
    const { status, body } = await share(shop.author, grants);
    expect([status, body.code]).toEqual([400, 'validation']);
  });

  it('removes grants to everyone when the caller lacks the permission, and refuses other grants by name', async () => {
    const wanted = [grant('*', 'read'), grant(shop.reader.id, 'read')];
    expect(principals((await share(shop.author, wanted)).body)).toEqual([`${shop.reader.id} read`]);
    await shop.permit('sharing.public_tools', true);
    expect((await share(shop.author, wanted)).body.access_grants).toHaveLength(2);
    await shop.permit('access_grants.allow_users', false);
    // Grants that exist may be sent again.
    expect((await share(shop.author, wanted)).body.access_grants).toHaveLength(2);
    const more = await share(shop.author, [...wanted, grant(shop.stranger.id, 'read')]);
    expect([more.status, more.body.code]).toEqual([403, 'forbidden']);
    expect(more.body.detail).toContain(shop.stranger.id);
    expect((await shop.as(shop.author, 'GET', 'plain')).body.access_grants).toHaveLength(2);
    await shop.permit('sharing.public_tools', false);
    expect(principals((await share(shop.author, wanted)).body)).toEqual([`${shop.reader.id} read`]);
    await shop.permit('access_grants.allow_users', true);
    expect((await share(shop.admin, wanted)).body.access_grants).toHaveLength(2);
  });
});

it('refuses to create a tool with a grant that its creator may not give', async () => {
  const { server, admin, author } = shop;
  const group = (await server.as(admin)('POST /groups/create', { name: 'others', description: '' })).body;
  const asked = { principal_type: 'group', principal_id: group.id, permission: 'read' };
  const tool = { id: 'given', name: 'Given', content: PLAIN, meta: {}, access_grants: [asked] };
  const refused = await server.as(author)('POST /tools/create', tool);
  expect([refused.status, refused.body.detail]).toEqual([403, expect.stringContaining(group.id)]);
  expect((await shop.as(author, 'GET', 'given')).status).toBe(404);
  await server.as(admin)(`POST /groups/id/${group.id}/users/add`, { user_ids: [author.id] });
  expect((await server.as(author)('POST /tools/create', tool)).body.access_grants).toMatchObject([asked]);
});

describe('the permission to author', () => {
  it('tools_import allows creating a tool; only workspace.tools allows changing the source', async () => {
    await shop.permit('workspace.tools', false);
    expect((await shop.create('imported', PLAIN)).body.code).toBe('tool_forbidden');
    await shop.permit('workspace.tools_import', true);
    expect((await shop.create('imported', PLAIN)).status).toBe(200);
    const update = (content: string) =>
      shop.as(shop.author, 'POST', 'imported/update', { name: 'Imported', content, meta: {} });
    expect((await update(PLAIN)).status).toBe(200);
    expect((await update(SOURCE)).body.code).toBe('tool_forbidden');
    await shop.permit('workspace.tools', true);
    await shop.permit('workspace.tools_import', false);
    expect((await update(SOURCE)).status).toBe(200);
  });
});
