import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPins } from '../../src/configs/configs.pins.ts';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { SETTINGS } from '../../src/configs/settings/configs.settings.ts';
import { NAMED_VARIABLES } from '../../src/env/settings.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';
import { type Person, signIn, signUp, signUpAs, startServer, type TestServer } from '../support/server.ts';
import { type Administration, administer } from './support.ts';

const PINS = {
  ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: 'True',
  API_KEYS_ALLOWED_ENDPOINTS: '/api/v1/tools,/api/v1/channels',
  PARLEY_CONFIG__ui__default_user_role: 'user',
  PARLEY_CONFIG__user__permissions__features__channels: 'false',
  OPENAI_API_BASE_URLS: 'https://one.example.com;https://two.example.com',
  OPENAI_API_KEYS: ';sk-pinned',
};
const LOCKED = [
  ...['auth.api_key.endpoint_restrictions', 'auth.api_key.allowed_endpoints', 'ui.default_user_role'],
  ...['user.permissions.features.channels', 'hosted_model_api.api_base_urls', 'hosted_model_api.api_keys'],
];

let database: TestDatabase;
let server: TestServer;
let root: Person;
let user: Person;
let admin: Administration;

beforeAll(async () => {
  database = await createDatabase();
  server = await startServer({ database, env: { ...PINS, SECRET_KEY: 'k'.repeat(40) } });
  root = await signUp(server, 'Root');
  user = await signUpAs(server, root, 'User', 'user');
  admin = administer(server, root);
});
afterAll(async () => {
  await server.close();
  await database.drop();
});

interface Setting {
  path: string;
  value: unknown;
  default: unknown;
  source: string;
  locked: boolean;
  variable: string | null;
  used_by: string;
  meaning: string;
  schema: Record<string, unknown>;
}
async function explained(): Promise<{ locked: string[]; revision: number; settings: Setting[] }> {
  return (await server.call('GET /configs/explain', { token: root.token })).body;
}
const setting = async (path: string) => (await explained()).settings.find((one) => one.path === path);

describe('a setting of the environment', () => {
  it('is in force and exported, whatever value is stored', async () => {
    const exported = await admin.exported('?secrets=true');
    expect(exported.auth.api_key).toEqual({
      endpoint_restrictions: true,
      allowed_endpoints: '/api/v1/tools,/api/v1/channels',
    });
    expect(exported.hosted_model_api).toMatchObject({
      api_base_urls: ['https://one.example.com', 'https://two.example.com'],
      api_keys: ['', 'sk-pinned'],
    });
    expect((await server.call('GET /channels', { token: user.token })).status).toBe(403);
    const { body } = await server.call('POST /auths/signup', {
      body: { email: 'new@example.com', name: 'New', password: 'a long password' },
    });
    expect(body.role).toBe('user');
  });

  it('cannot be changed by an import, which is refused by name and changes nothing', async () => {
    const before = await explained();
    const configuration = await admin.exported();
    configuration.ui.default_user_role = 'admin';
    configuration.ui.watermark = 'not stored';
    configuration.hosted_model_api.api_keys = ['', 'sk-another'];
    const { status, body } = await admin.importing(configuration);
    expect([status, body.code]).toEqual([409, 'config_locked']);
    expect(body.detail).toContain('ui.default_user_role');
    expect(body.detail).toContain('PARLEY_CONFIG__ui__default_user_role');
    expect(body.issues.map(({ path }: { path: string }) => path)).toEqual([
      'ui.default_user_role',
      'hosted_model_api.api_keys',
    ]);
    expect(await explained()).toEqual(before);
  });

  it('may be imported with the pinned or the stored value, and the stored value returns without the pin', async () => {
    const configuration = await admin.exported();
    configuration.ui.watermark = 'imported';
    expect((await admin.importing(configuration)).status).toBe(200);
    const unpinned = structuredClone(DEFAULT_CONFIGURATION);
    unpinned.ui.watermark = 'stored';
    const { status, body } = await admin.importing(unpinned);
    expect([status, body.ui.watermark, body.ui.default_user_role]).toEqual([200, 'stored', 'user']);
    const rows = await database.query<{ data: typeof DEFAULT_CONFIGURATION }>('select data from config');
    // Pinned settings without a stored value stay without one.
    expect(rows[0]?.data.ui.default_user_role).toBeUndefined();
    expect(JSON.stringify(rows)).not.toContain('sk-pinned');

    await server.close();
    server = await startServer({ database, env: { SECRET_KEY: 'k'.repeat(40) } });
    admin = administer(server, root);
    expect(await admin.exported()).toEqual(unpinned);
    expect((await explained()).locked).toEqual([]);
    await server.close();
    server = await startServer({ database, env: { ...PINS, SECRET_KEY: 'k'.repeat(40) } });
    root = await signIn(server, root);
    admin = administer(server, root);
  });

  it('stays pinned after a rollback', async () => {
    const { body } = await server.call('GET /configs/history', { token: root.token });
    const { status } = await server.call('POST /configs/rollback', {
      token: root.token,
      body: { id: body.at(-1).id },
    });
    expect(status).toBe(200);
    expect((await admin.exported()).ui.default_user_role).toBe('user');
  });
});

describe('GET /configs/explain', () => {
  it('requires an administrator', async () => {
    expect((await server.call('GET /configs/explain')).status).toBe(401);
    expect((await server.call('GET /configs/explain', { token: user.token })).status).toBe(403);
  });

  it('lists each setting once, with its value, default and source', async () => {
    const configuration = await admin.exported();
    configuration.ui.watermark = 'shown';
    Object.assign(configuration, { rag: { api_key: 'hidden', chunk_size: 7 } });
    await admin.importing(configuration);
    const { settings, locked } = await explained();
    expect(settings.map(({ path }) => path)).toEqual([...SETTINGS, 'rag.api_key', 'rag.chunk_size']);
    expect(new Set(locked)).toEqual(new Set(LOCKED));
    expect(
      settings
        .filter((one) => one.locked)
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual(LOCKED.toSorted());
    const about = { variable: null, locked: false };
    expect(await setting('ui.watermark')).toMatchObject({
      value: 'shown',
      default: '',
      source: 'stored',
      ...about,
    });
    // An import sets every member that it has, also when the value equals the default.
    expect(await setting('ui.enable_signup')).toMatchObject({
      value: true,
      default: true,
      source: 'stored',
      ...about,
    });
    expect(await setting('rag.chunk_size')).toMatchObject({
      value: 7,
      default: null,
      source: 'stored',
      used_by: 'nobody',
    });
    expect(await setting('auth.api_key.endpoint_restrictions')).toMatchObject({
      value: true,
      default: false,
      source: 'environment',
      locked: true,
      variable: 'ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS',
    });
    const schemas = Object.fromEntries(settings.map(({ path, schema }) => [path, schema]));
    expect(schemas['ui.default_user_role']).toEqual({ type: 'string', enum: ['admin', 'user', 'pending'] });
    expect(schemas['user.permissions.features.channels']).toEqual({ type: 'boolean' });
    expect(schemas.webhook_url).toMatchObject({ anyOf: [{ format: 'uri' }, { const: '' }] });
    expect(schemas['rag.chunk_size']).toEqual({});
    expect(settings.filter(({ path, schema }) => SETTINGS.includes(path) && !Object.keys(schema)[0])).toEqual(
      [],
    );
    expect((await setting('hosted_model_api.api_keys'))?.value).toEqual(['', '********']);
    expect((await setting('rag.api_key'))?.value).toBe('********');
  });
});

describe('a variable for a setting', () => {
  it('names an existing setting, in every spelling', () => {
    for (const path of Object.values(NAMED_VARIABLES)) expect(SETTINGS).toContain(path);
  });

  it.each([
    ['ENABLE_SIGNUP', 'off', 'ui.enable_signup', false],
    ['DEFAULT_MODELS', 'a,b', 'ui.default_models', 'a,b'],
    ['JWT_EXPIRES_IN', '12h', 'auth.jwt_expiry', '12h'],
    ['OAUTH_ALLOWED_DOMAINS', 'a.org, b.org', 'oauth.allowed_domains', ['a.org', 'b.org']],
    [
      'DEFAULT_PROMPT_SUGGESTIONS',
      '[{"title":["a"],"content":"b"}]',
      'ui.prompt_suggestions',
      [{ title: ['a'], content: 'b' }],
    ],
    ['PARLEY_CONFIG__models__default_params', '{"top_p":0.5}', 'models.default_params', { top_p: 0.5 }],
    ['WEBUI_NAME', 'Harbour', 'webui.name', 'Harbour'],
    ['WEBUI_LOGO', '/logo.svg', 'webui.logo', '/logo.svg'],
    ['WEBUI_COLOR', '#0a7f5c', 'webui.color', '#0a7f5c'],
    ['PARLEY_CONFIG__webhook_url', 'https://example.com/x', 'webhook_url', 'https://example.com/x'],
  ])('%s=%s sets %s to %j', (variable, text, path, value) => {
    expect(readPins({ [variable]: text })).toEqual([{ path, variable, value }]);
  });

  it.each([
    ['ENABLE_SIGNUP', 'maybe', 'ui.enable_signup must be true or false'],
    ['DEFAULT_USER_ROLE', 'root', 'DEFAULT_USER_ROLE is wrong: ui.default_user_role'],
    ['JWT_EXPIRES_IN', 'soon', 'JWT_EXPIRES_IN is wrong'],
    ['OPENAI_API_BASE_URLS', 'https://a.example.com;nonsense', 'hosted_model_api.api_base_urls.1'],
    ['WEBUI_COLOR', 'green', 'WEBUI_COLOR is wrong: webui.color'],
    ['WEBUI_BANNERS', '[{', 'ui.banners must be a list in JSON'],
    ['PARLEY_CONFIG__models__default_params', 'x', 'must be an object in JSON'],
    ['PARLEY_CONFIG__ui__enable_sign_up', 'false', 'names no setting'],
    ['PARLEY_CONFIG__UI__ENABLE_SIGNUP', 'false', 'Write PARLEY_CONFIG__ui__enable_signup'],
    ['PARLEY_CONFIG__ui', '{}', 'names no setting'],
    ['PARLEY_CONFIG__version', '9', 'names no setting'],
    ['PARLEY_CONFIG____proto____x', '1', 'names no setting'],
  ])('%s=%s stops the start', (variable, text, words) => {
    expect(() => readPins({ [variable]: text })).toThrow(words);
  });

  it('is not quoted in the error, since it may be a secret', () => {
    expect(() => readPins({ WEBHOOK_URL: 'secret words' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('secret') }),
    );
  });

  it('stops the start beside another variable for the same setting', () => {
    const both = { ENABLE_SIGNUP: 'true', PARLEY_CONFIG__ui__enable_signup: 'true' };
    expect(() => readPins(both)).toThrow('ENABLE_SIGNUP and PARLEY_CONFIG__ui__enable_signup both pin');
  });
});
