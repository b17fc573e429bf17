import { afterAll, describe, expect, it } from 'vitest';
import { signUpAll, startServer } from '../support/server.ts';

const server = await startServer();
const { as } = server;
afterAll(() => server.close());
const [root, ann] = await signUpAll(server, 'Root', 'Ann');

const PATH = '/users/default/permissions';
const SECTIONS = { workspace: {}, sharing: {}, access_grants: {}, chat: {}, features: {}, settings: {} };

describe('the default permissions', () => {
  it('are replaced alone, completed with defaults, and take effect at once', async () => {
    const sent = {
      ...SECTIONS,
      workspace: { tools_export: true },
      features: { channels: false },
      other: { x: true },
    };
    const { status, body } = await as(root)(`POST ${PATH}`, sent);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      workspace: { tools_export: true, tools: false },
      features: { channels: false, api_keys: false, notes: true },
      access_grants: { allow_users: true },
      other: { x: true },
    });
    expect((await as(root)(`GET ${PATH}`)).body).toEqual(body);
    expect((await as(ann)('GET /users/permissions')).body).toEqual(body);
    expect((await as(ann)('GET /channels')).status).toBe(403);
    expect((await as(ann)('GET /tools/export')).status).toBe(200);
    const { body: config } = await as(root)('GET /configs/export');
    expect(config.user.permissions.workspace.tools_export).toBe(true);
    await as(root)(`POST ${PATH}`, SECTIONS);
    expect((await as(ann)('GET /channels')).status).toBe(200);
  });

  it.each(Object.keys(SECTIONS))('are not replaced without the section %s', async (section) => {
    const { [section]: _, ...rest } = SECTIONS as Record<string, object>;
    const { status, body } = await as(root)(`POST ${PATH}`, rest);
    expect([status, body.issues[0].path]).toEqual([400, section]);
  });

  it('are booleans, and only administrators may change them', async () => {
    const { status, body } = await as(root)(`POST ${PATH}`, { ...SECTIONS, chat: { edit: 'yes' } });
    expect([status, body.issues[0].path]).toEqual([400, 'chat.edit']);
    for (const method of ['GET', 'POST']) {
      const request = `${method} ${PATH}`;
      const sent = method === 'POST' ? SECTIONS : undefined;
      expect((await as(ann)(request, sent)).status).toBe(403);
      expect((await server.call(request, { body: sent })).status).toBe(401);
    }
  });

  it('survive a concurrent import: one of both comes last, and neither is mixed with the other', async () => {
    const { body: config } = await as(root)('GET /configs/export?secrets=true');
    await Promise.all([
      as(root)('POST /configs/import', { ...config, webhook_url: 'https://example.com/hook' }),
      as(root)(`POST ${PATH}`, { ...SECTIONS, workspace: { tools: true } }),
    ]);
    const { body: after } = await as(root)('GET /configs/export?secrets=true');
    expect(after.webhook_url).toBe('https://example.com/hook');
  });
});
