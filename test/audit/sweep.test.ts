import { afterAll, describe, expect, it } from 'vitest';
import { listProcedures } from '../../src/doors/http/procedures.ts';
import { appRouter } from '../../src/router.ts';
import { administer } from '../configs/support.ts';
import { sessionOf, signIn, signUpAll, startServer } from '../support/server.ts';

/**
 * Calls every administrator procedure of the router that changes something, and checks that it leaves an
 * entry in the audit log.
 */
const server = await startServer({ env: { ENABLE_API_KEYS: 'true' } });
const { as } = server;
afterAll(() => server.close());
const [root, ann] = await signUpAll(server, 'Root', 'Ann');
const admin = administer(server, root);

const post = async (path: string, body?: unknown) => (await as(root)(`POST ${path}`, body)).body;
const account = async (name: string) =>
  post('/users', { name, email: `${name}@example.com`, password: 'a long password', role: 'user' });
const group = async (name: string) => post('/groups/create', { name, description: '' });
const part = async (path: string, change: object) => ({ ...(await as(root)(`GET ${path}`)).body, ...change });

/** The input of each, such that it changes something. */
const INPUTS: Record<string, () => Promise<Record<string, unknown>>> = {
  'apiKeys.deleteOf': async () => {
    await as(root)('POST /users/default/permissions', await everything());
    const { body } = await as(ann)('POST /auths/api_keys', { name: 'key' });
    return { id: ann.id, key_id: body.id };
  },
  'auths.add': async () => ({ name: 'Added', email: 'added@example.com', password: 'a long password' }),
  'configParts.setAdmin': () => part('/auths/admin/config', { DEFAULT_USER_ROLE: 'user' }),
  'configParts.setBanners': async () => ({
    banners: [{ id: 'b', type: 'info', content: 'x', dismissible: true, timestamp: 1 }],
  }),
  'configParts.setConnections': () => part('/configs/connections', { ENABLE_DIRECT_CONNECTIONS: true }),
  'configParts.setModels': () => part('/configs/models', { DEFAULT_MODELS: 'a' }),
  'configParts.setSuggestions': async () => ({ suggestions: [{ title: ['a'], content: 'b' }] }),
  'configParts.setTerminalServers': async () => ({ TERMINAL_SERVER_CONNECTIONS: [{ url: 'x' }] }),
  'configParts.setToolServers': async () => ({ TOOL_SERVER_CONNECTIONS: [] }),
  'configParts.setVisibility': async () => ({ visibility: { sidebar: true } }),
  'configParts.setWebhook': async () => ({ url: 'https://hooks.example.com/' }),
  'configs.import': async () => ({ ...(await admin.exported()), notes: { enable: false } }),
  'configs.rollback': async () => ({ id: (await as(root)('GET /configs/history')).body.at(-1).id }),
  'connections.setHosted': () =>
    part('/openai/config', { OPENAI_API_BASE_URLS: ['https://a.example'], OPENAI_API_KEYS: [] }),
  'connections.setOllama': () => part('/ollama/config', { OLLAMA_BASE_URLS: ['https://b.example'] }),
  'files.deleteAll': async () => ({}),
  'groups.addMembers': async () => ({ id: (await group('joined')).id, user_ids: [ann.id] }),
  'groups.create': async () => ({ name: 'made', description: '' }),
  'groups.delete': async () => ({ id: (await group('deleted')).id }),
  'groups.removeMembers': async () => {
    const { id } = await group('left');
    await post(`/groups/id/${id}/users/add`, { user_ids: [ann.id] });
    return { id, user_ids: [ann.id] };
  },
  'groups.update': async () => ({ id: (await group('named')).id, name: 'renamed' }),
  'methods.setOAuth': async () => ({ ENABLE_OAUTH_SIGNUP: true }),
  'modelTransfer.sync': async () => ({ models: [{ id: 'synced', name: 'Synced' }] }),
  'permissions.setDefault': async () => {
    const tree = await everything();
    return { ...tree, chat: { ...tree.chat, edit: false } };
  },
  'sessions.endAllOf': async () => ({ id: (await signIn(server, ann)).id }),
  'sessions.revokeOf': async () => ({ id: (await signIn(server, ann)).id }),
  'sessions.endOf': async () => ({ id: ann.id, session_id: sessionOf(await signIn(server, ann)) }),
  'users.create': async () => ({ name: 'New', email: 'new@example.com', password: 'a long password' }),
  'users.delete': async () => ({ id: (await account('gone')).id }),
  'users.update': async () => ({ id: (await account('raised')).id, role: 'admin' }),
};

/**
 * These change nothing: they test a directory, list the people of a group, confirm values of the environment,
 * or test a tool server or a provider of models.
 */
const HARMLESS = [
  'ldap.test',
  'people.inGroup',
  'methods.setLdap',
  'methods.setLdapServer',
  'configParts.verifyToolServer',
  'connections.verifyHosted',
  'connections.verifyOllama',
  'providers.test',
];

async function everything() {
  const { body: tree } = await as(root)('GET /users/default/permissions');
  return { ...tree, features: { ...tree.features, api_keys: true } };
}

const countEntries = async () =>
  (
    await server.database.query<{ n: number }>(
      'select count(*)::int as n from audit_entry where actor_id = $1',
      [root.id],
    )
  )[0]?.n ?? 0;

const changes = listProcedures(appRouter).filter(
  ({ path, type, meta }) =>
    type === 'mutation' && meta?.level === 'administrator' && !HARMLESS.includes(path),
);

describe('the audit log records', () => {
  it.each(changes.map((procedure) => [procedure.path, procedure] as const))('%s', async (path, { meta }) => {
    const make = INPUTS[path];
    if (!make) throw new Error(`Say in this file what ${path} is sent.`);
    const input = await make();
    const before = await countEntries();
    const { method = '', path: rest = '' } = meta?.openapi ?? {};
    const address = rest.replaceAll(/\{(\w+)\}/g, (_, name) => String(input[name]));
    const { status, body } = await as(root)(`${method} ${address}`, method === 'POST' ? input : undefined);
    expect([status < 300, body.detail]).toEqual([true, undefined]);
    // One entry for each of several sessions.
    expect(await countEntries()).toBeGreaterThan(before);
    const { entries } = (await as(root)('GET /audit?limit=1')).body;
    expect(entries[0]).toMatchObject({
      actor_id: root.id,
      credential: 'session',
      credential_id: sessionOf(root),
    });
    expect(entries[0].ip).toBeTruthy();
    expect(entries[0].before ?? entries[0].after ?? entries[0].target_id).not.toBeNull();
    expect(JSON.stringify(entries)).not.toMatch(/a long password|argon2/);
  });
});
