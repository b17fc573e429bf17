import { createTRPCClient, httpBatchLink } from '@trpc/client';
import { afterAll, describe, expect, it } from 'vitest';
import type { AppRouter } from '../../src/router.ts';
import type { Person } from '../support/server.ts';
import { openWorkshop } from './workshop.ts';

const source = (answer: number) =>
  `"""\nversion: ${answer}\n"""\nclass Tools:\n    def f(self): return ${answer}\n`;

const shop = await openWorkshop();
afterAll(() => shop.close());
const { author, admin, server } = shop;

const i18n = { de: { name: 'Würfel', description: 'Würfelt' }, fr: { name: 'Dés' } };
/** As the page of Open WebUI sends it: the last two are made from the source. */
const meta = { description: 'Rolls', i18n, tags: ['games'], manifest: { title: 'x' }, has_user_valves: true };
const kept = { description: 'Rolls', i18n, tags: ['games'] };
const shown = (version: number) => ({
  ...kept,
  manifest: { version: String(version) },
  has_user_valves: false,
});

const create = (id: string, sent: object) =>
  server.call('POST /tools/create', {
    token: author.token,
    body: { id, name: id, content: source(1), meta: sent },
  });
const update = (id: string, version: number, sent: object) =>
  shop.as(author, 'POST', `${id}/update`, { name: id, content: source(version), meta: sent });
const metaOf = async (id: string, person: Person = author) => (await shop.as(person, 'GET', id)).body.meta;
const clientOf = ({ token }: Person) =>
  createTRPCClient<AppRouter>({
    links: [httpBatchLink({ url: `${server.url}/trpc`, headers: { authorization: `Bearer ${token}` } })],
  });

describe('the meta of a tool', () => {
  it('keeps translations and unknown members in all views', async () => {
    const created = await create('dice', meta);
    expect(created.body.meta).toEqual(shown(1));
    expect(created.headers.get('x-ignored-members')).toBeNull();
    expect(await metaOf('dice')).toEqual(shown(1));
    for (const path of ['/tools', '/tools/list', '/tools/export']) {
      const { body } = await server.call(`GET ${path}`, { token: admin.token });
      expect([path, body.find(({ id }: { id: string }) => id === 'dice').meta]).toEqual([path, shown(1)]);
    }
  });

  it('is replaced by an update, as in Open WebUI', async () => {
    await create('replaced', meta);
    const updated = await update('replaced', 1, { description: 'Rolls', i18n: { de: { name: 'W' } } });
    const manifest = { version: '1' };
    expect(updated.body.meta).toEqual({
      description: 'Rolls',
      i18n: { de: { name: 'W' } },
      manifest,
      has_user_valves: false,
    });
    await update('replaced', 1, { i18n: null });
    expect(await metaOf('replaced')).toEqual({ description: null, manifest, has_user_valves: false });
  });

  it('is kept by the typed client', async () => {
    const tools = clientOf(author).tools;
    const content = source(1);
    const created = await tools.create.mutate({ id: 'typed', name: 'typed', content, meta });
    expect(created.meta).toEqual(shown(1));
    const updated = await tools.update.mutate({ id: 'typed', name: 'typed', content, meta: created.meta });
    expect(updated.meta).toEqual(shown(1));
  });

  it('stays when an earlier source is restored, and is part of the shown version', async () => {
    await create('story', {});
    await update('story', 2, meta);
    const entry = await shop.as(author, 'GET', 'story/history/1');
    expect(entry.body.snapshot).toEqual({ name: 'story', content: source(1), meta: kept });
    const restored = await shop.as(author, 'POST', 'story/update/version', { version_id: '1' });
    expect(restored.body.meta).toEqual(shown(1));
  });

  it('is exported and imported', async () => {
    await create('moved', meta);
    const { body } = await server.call('GET /tools/export', { token: admin.token });
    const file = body.filter(({ id }: { id: string }) => id === 'moved');
    for (const send of [
      () => server.call('POST /tools/import', { token: author.token, body: { tools: file } }),
      () => clientOf(author).toolImport.file.mutate({ tools: file }),
    ]) {
      await shop.as(author, 'DELETE', 'moved/delete');
      await send();
      expect(await metaOf('moved')).toEqual(shown(1));
    }
  });

  it.each([
    [{ i18n: { de: 'Würfel' } }, 'meta.i18n.de'],
    [{ i18n: { de: { name: 1 } } }, 'meta.i18n.de.name'],
    [{ extra: 'x'.repeat(256 * 1024) }, 'meta'],
    [{ extra: 'a\0' }, 'meta'],
  ])('is refused where it cannot be stored (%#)', async (sent, path) => {
    const { status, body } = await create('refused', sent);
    expect([status, body.issues?.[0].path]).toEqual([400, path]);
  });

  it('counts for the storage of its owner', async () => {
    await create('small', {});
    await shop.configure((config) => {
      config.limits = { storage_bytes: 50_000 };
    });
    const large = { extra: 'x'.repeat(100_000) };
    expect((await create('large', large)).status).toBe(507);
    expect((await update('small', 1, large)).status).toBe(507);
    expect((await update('small', 1, { extra: 'x' })).status).toBe(200);
    await shop.configure((config) => {
      config.limits = { storage_bytes: 0 };
    });
  });

  it('is recorded in the audit log when it changes', async () => {
    await create('audited', { description: 'd' });
    await update('audited', 1, { description: 'd', i18n });
    const path = 'GET /audit?target=tool:audited&action=tool.update';
    const { body } = await server.call(path, { token: admin.token });
    expect(body.entries).toMatchObject([{ before: {}, after: { meta: { i18n } } }]);
  });
});
