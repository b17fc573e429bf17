import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { valueAt } from '../../src/configs/settings/configs.settings.ts';
import { signUp, signUpAll, startServer } from '../support/server.ts';
import { administer } from './support.ts';

/** Parts of the configuration in the form that clients of comparable systems read and replace. */
const server = await startServer({ env: { RESPONSE_WATERMARK: 'pinned' } });
const { as } = server;
afterAll(() => server.close());
const [root, user] = await signUpAll(server, 'Root', 'User');
const admin = administer(server, root);
beforeAll(async () => {
  // Settings that this service does not use itself, but other systems do.
  await admin.configure((configuration) => {
    Object.assign(configuration, { memories: { enable: true }, users: { enable_status: false } });
  });
});

const TOOL_SERVER = {
  ...{ url: 'https://time.example.com', path: 'openapi.json', type: 'openapi', auth_type: 'bearer' },
  ...{ key: 'sk-time', config: { enable: true }, info: { name: 'Time' } },
};

/** The body for each part, and the settings that it changes. */
const PARTS: [path: string, sent: Record<string, unknown>, changed: Record<string, unknown>][] = [
  [
    '/configs/connections',
    { ENABLE_DIRECT_CONNECTIONS: true, ENABLE_BASE_MODELS_CACHE: false },
    { 'direct.enable': true, 'models.base_models_cache': false },
  ],
  [
    '/configs/models',
    {
      DEFAULT_MODELS: 'a,b',
      DEFAULT_PINNED_MODELS: null,
      MODEL_ORDER_LIST: ['b'],
      DEFAULT_MODEL_PARAMS: { top_k: 1 },
    },
    { 'ui.default_models': 'a,b', 'ui.model_order_list': ['b'], 'models.default_params.top_k': 1 },
  ],
  [
    '/configs/terminal_servers',
    { TERMINAL_SERVER_CONNECTIONS: [{ id: 't', url: 'https://term.example.com' }] },
    { 'terminal_server.connections': [{ id: 't', url: 'https://term.example.com' }] },
  ],
  ['/webhook', { url: 'https://hooks.example.com/x' }, { webhook_url: 'https://hooks.example.com/x' }],
  [
    '/auths/admin/config',
    {
      ...{ SHOW_ADMIN_DETAILS: false, ADMIN_EMAIL: 'it@example.com', WEBUI_URL: 'https://chat.example.com' },
      ...{ ENABLE_SIGNUP: true, ENABLE_API_KEYS: true, ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: true },
      ...{ API_KEYS_ALLOWED_ENDPOINTS: '/api/v1/tools', DEFAULT_USER_ROLE: 'user', DEFAULT_GROUP_ID: '' },
      ...{ JWT_EXPIRES_IN: '30d', ENABLE_COMMUNITY_SHARING: false, ENABLE_MESSAGE_RATING: true },
      ...{ FOLDER_MAX_FILE_COUNT: 12, ENABLE_CHANNELS: true },
      ...{ ENABLE_USER_WEBHOOKS: false, ENABLE_USER_STATUS: true, PENDING_USER_OVERLAY_TITLE: 'Wait' },
      ...{ PENDING_USER_OVERLAY_CONTENT: null, RESPONSE_WATERMARK: 'pinned' },
    },
    {
      ...{
        'auth.admin.show': false,
        'auth.admin.email': 'it@example.com',
        'webui.url': 'https://chat.example.com',
      },
      ...{ 'auth.enable_api_keys': true, 'auth.api_key.endpoint_restrictions': true },
      ...{
        'auth.api_key.allowed_endpoints': '/api/v1/tools',
        'ui.default_user_role': 'user',
        'auth.jwt_expiry': '30d',
      },
      ...{ 'folders.max_file_count': '12', 'users.enable_status': true },
      ...{ 'ui.pending_user_overlay_title': 'Wait' },
    },
  ],
];

const latest = async () => (await as(root)('GET /configs/history?limit=1')).body[0];
describe.each(PARTS)('%s', (path, sent, changed) => {
  it('replaces its own settings only, and answers with them', async () => {
    const before = (await as(root)(`GET ${path}`)).body;
    expect(Object.keys(before)).toEqual(expect.arrayContaining(Object.keys(sent)));
    const { status, body } = await as(root)(`POST ${path}`, { ...sent, more: 'x' });
    expect(status).toBe(200);
    expect(await as(root)(`GET ${path}`)).toMatchObject({ status: 200, body });
    expect((await latest()).changed.toSorted()).toEqual(Object.keys(changed).toSorted());
    const stored = await admin.exported();
    for (const [setting, value] of Object.entries(changed)) {
      expect([setting, valueAt(stored, setting)]).toEqual([setting, value]);
    }
    // The answer can be sent again.
    const again = await as(root)(`POST ${path}`, body);
    expect([again.status, again.body]).toEqual([200, body]);
    expect((await latest()).changed).toEqual([]);
    expect((await as(root)(`POST ${path}`, before)).body).toEqual(before);
  });

  it('requires an administrator', async () => {
    for (const [method, body] of [['GET'], ['POST', sent]] as const) {
      expect((await as(user)(`${method} ${path}`, body)).status).toBe(403);
      expect((await server.call(`${method} ${path}`, { body })).status).toBe(401);
    }
  });

  it('requires every permanent member with a valid type', async () => {
    const { revision } = await latest();
    const [name = ''] = Object.keys(sent);
    const { [name]: _, ...others } = sent;
    for (const body of [others, { ...sent, [name]: { a: 1 } }, [], null, 'x']) {
      expect((await as(root)(`POST ${path}`, body)).status).toBe(400);
    }
    expect((await latest()).revision).toBe(revision);
  });
});

it('/auths/admin/config reports missing features as off, and cannot enable them', async () => {
  const before = (await as(root)('GET /auths/admin/config')).body;
  const off = { ENABLE_AUTOMATIONS: false, ENABLE_CALENDAR: false, ENABLE_MEMORY_SYSTEM_CONTEXT: false };
  expect(before).toMatchObject({
    ...off,
    ENABLE_APPS: false,
    ENABLE_MFA: false,
    SKILL_CONTENT_MAX_CHARS: null,
  });
  const mfa = await as(root)('POST /auths/admin/config', { ...before, ENABLE_MFA: true });
  expect([mfa.status, mfa.body.issues[0].path]).toEqual([400, 'ENABLE_MFA']);
  const sent = { ...before, ENABLE_CALENDAR: true };
  const { status, body, headers } = await as(root)('POST /auths/admin/config', sent);
  expect([status, body]).toEqual([200, before]);
  expect(headers.get('x-ignored-members')).toContain('ENABLE_CALENDAR');
});

it.each([true, false])(
  'a form that says %s about notes, folders and memories changes no setting',
  async (on) => {
    const { folders, notes, memories } = await admin.exported();
    expect([folders.enable, notes.enable, memories]).toEqual([true, true, { enable: true }]);
    const off = { ENABLE_NOTES: false, ENABLE_FOLDERS: false, ENABLE_MEMORIES: false };
    const before = (await as(root)('GET /auths/admin/config')).body;
    expect(before).toMatchObject(off);
    const sent = { ...before, ENABLE_NOTES: on, ENABLE_FOLDERS: on, ENABLE_MEMORIES: on };
    const { status, body } = await as(root)('POST /auths/admin/config', sent);
    expect([status, body]).toEqual([200, before]);
    expect(await admin.exported()).toMatchObject({ folders, notes, memories });
    const { features } = (await as(user)('GET /config')).body;
    expect(features).toMatchObject({ enable_notes: false, enable_folders: false, enable_memories: false });
  },
);

describe('the keys of servers', () => {
  const PATH = '/configs/tool_servers';
  const keys = async () =>
    (await admin.exported('?secrets=true')).tool_server.connections.map(({ url, key }) => [url, key]);

  it('are masked, kept by their mask, and kept only for the same address', async () => {
    const { body } = await as(root)(`POST ${PATH}`, { TOOL_SERVER_CONNECTIONS: [TOOL_SERVER] });
    expect(body.TOOL_SERVER_CONNECTIONS).toEqual([{ ...TOOL_SERVER, key: '********' }]);
    const [masked] = body.TOOL_SERVER_CONNECTIONS;
    const other = { ...TOOL_SERVER, url: 'https://other.example.com', key: 'sk-other' };
    expect((await as(root)(`POST ${PATH}`, { TOOL_SERVER_CONNECTIONS: [other, masked] })).status).toBe(200);
    expect(await keys()).toEqual([
      [other.url, 'sk-other'],
      [TOOL_SERVER.url, 'sk-time'],
    ]);
    const stolen = { ...masked, url: 'https://evil.example.com' };
    const refused = await as(root)(`POST ${PATH}`, { TOOL_SERVER_CONNECTIONS: [stolen] });
    expect([refused.status, refused.body.issues[0].path]).toEqual([400, 'tool_server.connections.0.key']);
    expect(await keys()).toHaveLength(2);
  });
});

describe('lists for clients', () => {
  it.each([
    ['suggestions', [{ title: ['Tell me', 'a story'], content: 'Tell me a story.' }], 'title'],
    ['banners', [{ id: 'b', type: 'info', content: 'Hi', dismissible: true, timestamp: 1 }], 'dismissible'],
  ])('%s are replaced and answered as a list', async (name, list, needed) => {
    const { status, body } = await as(root)(`POST /configs/${name}`, { [name]: list });
    expect([status, body]).toEqual([200, list]);
    const client = (await as(user)('GET /config')).body;
    expect(client[name === 'banners' ? name : 'default_prompt_suggestions']).toEqual(list);
    const { [needed]: _, ...short } = { ...list[0] } as Record<string, unknown>;
    expect((await as(root)(`POST /configs/${name}`, { [name]: [short] })).status).toBe(400);
    expect((await as(user)(`POST /configs/${name}`, { [name]: [] })).status).toBe(403);
  });
});

it.each([
  ['an invalid role', { DEFAULT_USER_ROLE: 'root' }, 400],
  ['an invalid duration', { JWT_EXPIRES_IN: 'soon' }, 400],
  ['an invalid address', { WEBUI_URL: 'javascript:alert(1)' }, 400],
  ['an invalid count', { FOLDER_MAX_FILE_COUNT: -1 }, 400],
  ['a value for a pinned setting', { RESPONSE_WATERMARK: 'other' }, 409],
])('%s is refused and changes nothing', async (_what, wrong, status) => {
  const before = (await as(root)('GET /auths/admin/config')).body;
  expect(
    (await as(root)('POST /auths/admin/config', { ...before, ENABLE_CHANNELS: false, ...wrong })).status,
  ).toBe(status);
  expect((await as(root)('GET /auths/admin/config')).body).toEqual(before);
});

it('two parts that are changed at once are both stored', async () => {
  const [connections, models] = [PARTS[0], PARTS[1]].map((part) => part?.slice(0, 2) as [string, object]);
  for (let round = 0; round < 5; round += 1) {
    await admin.configure(() => {});
    await Promise.all([connections, models].map((part) => as(root)(`POST ${part?.[0]}`, part?.[1])));
    const { direct, ui } = await admin.exported();
    expect([direct.enable, ui.default_models]).toEqual([true, 'a,b']);
  }
});

it('/configs/interface/visibility replaces the visible parts of the interface', async () => {
  const path = 'POST /configs/interface/visibility';
  const visibility = { 'chat.settings': false, sidebar: true };
  for (const wrong of [{}, { visibility: { sidebar: 'no' } }, { visibility: { a: 'x'.repeat(9_000) } }])
    expect((await as(root)(path, wrong)).status).toBe(400);
  expect((await as(user)(path, { visibility })).status).toBe(403);
  expect((await server.call(path, { body: { visibility } })).status).toBe(401);
  expect(await as(root)(path, { visibility })).toMatchObject({ status: 200, body: { visibility } });
  expect((await as(root)('GET /config')).body.ui.visibility).toEqual(visibility);
  expect((await as(root)(path, { visibility: {} })).body).toEqual({ visibility: {} });
  expect((await as(root)('GET /config')).body.ui.visibility).toEqual({});
});

describe('the contact for pending accounts', () => {
  let waiting = 0;
  const ask = async (show: boolean, email: string | null) => {
    await admin.configure(({ auth }) => {
      auth.admin = { show, email };
    });
    waiting += 1;
    const pending = await signUp(server, `Pending${waiting}`);
    return as(pending)('GET /auths/admin/details');
  };

  it.each([
    [null, { name: 'Root', email: 'root@example.com' }],
    ['', { name: 'Root', email: 'root@example.com' }],
    ['ROOT@example.com', { name: 'Root', email: 'root@example.com' }],
    ['desk@example.com', { name: null, email: 'desk@example.com' }],
  ])('is found with auth.admin.email = %j', async (email, body) => {
    expect(await ask(true, email)).toMatchObject({ status: 200, body });
  });

  it('is hidden without auth.admin.show, and from callers without credentials', async () => {
    expect((await ask(false, 'desk@example.com')).status).toBe(403);
    expect((await server.call('GET /auths/admin/details')).status).toBe(401);
  });
});
