import { afterAll, describe, expect, it } from 'vitest';
import { signUpAll, startServer } from '../support/server.ts';
import { administer } from './support.ts';

/** The flat form of a configuration with dotted names, as newer versions of comparable systems export it. */
const server = await startServer({ env: { RESPONSE_WATERMARK: 'pinned' } });
const { as } = server;
afterAll(() => server.close());
const [root, user] = await signUpAll(server, 'Root', 'User');
const { importing, exported, configure } = administer(server, root);

const FLAT = {
  'ui.default_models': 'a,b',
  'ui.enable_login_form': false,
  'ui.banners': null,
  'openai.api_base_urls': ['https://models.example.com/v1'],
  'openai.api_keys': ['sk-1'],
  'folders.max_file_count': 12,
  'channels.encryption.enable': true,
  'rag.top_k': 5,
  webhook_url: '',
};

describe('an import of the flat form', () => {
  it('replaces the settings that it names and keeps the others', async () => {
    await configure(({ ui, notes }) => {
      ui.default_locale = 'de';
      notes.enable = false;
    });
    const { status, body } = await importing({ config: FLAT }, '?secrets=true');
    expect([status, body.detail]).toEqual([200, undefined]);
    expect(body).toMatchObject({
      ui: { default_models: 'a,b', ENABLE_LOGIN_FORM: false, banners: [], default_locale: 'de' },
      hosted_model_api: { api_base_urls: FLAT['openai.api_base_urls'], api_keys: ['sk-1'] },
      folders: { max_file_count: '12', enable: true },
      channels: { enable: true, encryption: { enable: true } },
      notes: { enable: false },
      rag: { top_k: 5 },
    });
    expect(Object.keys(body).some((name) => name.includes('.'))).toBe(false);
  });

  it('is refused whole when one of its settings is wrong or pinned', async () => {
    const before = await exported();
    for (const [wrong, status] of [
      [{ 'auth.jwt_expiry': 'soon' }, 400],
      [{ 'ui.watermark': 'other' }, 409],
      [{ 'ui.default_models': 'c', 'channels.enable': 'yes' }, 400],
    ] as const) {
      expect((await importing({ 'notes.enable': true, ...wrong })).status).toBe(status);
    }
    expect(await exported()).toEqual(before);
  });

  it('can be tried without storing anything', async () => {
    const before = await exported();
    const { body } = await importing({ 'ui.default_locale': 'fr' }, '?dry_run=true');
    expect(body.ui.default_locale).toBe('fr');
    expect(await exported()).toEqual(before);
  });
});

it('a namespace has the settings below a prefix, by dotted names and with masks', async () => {
  const read = async (namespace: string) => (await as(root)(`GET /configs/namespace/${namespace}`)).body;
  expect(await read('folders')).toEqual({ 'folders.enable': true, 'folders.max_file_count': '12' });
  expect(await read('auth.api_key')).toEqual({
    'auth.api_key.endpoint_restrictions': false,
    'auth.api_key.allowed_endpoints': '',
  });
  expect(await read('openai')).toMatchObject({ 'openai.api_keys': ['********'], 'openai.enable': false });
  expect((await read('user'))['user.permissions'].workspace.tools).toBe(false);
  expect(await read('rag')).toEqual({ 'rag.top_k': 5 });
  expect(await read('nothing')).toEqual({});
  expect((await as(user)('GET /configs/namespace/ui')).status).toBe(403);
});
