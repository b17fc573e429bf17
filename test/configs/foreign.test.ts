import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { signUp, startServer } from '../support/server.ts';
import { administer } from './support.ts';

/**
 * An old export of a comparable system: only settings that were saved once, two sections under other names,
 * sections that are unknown here, and null where nothing was chosen.
 */
const FOREIGN = {
  version: 0,
  ui: {
    enable_signup: false,
    default_models: 'llama3.2:latest,gpt-4o',
    default_pinned_models: null,
    prompt_suggestions: [{ title: ['Explain', 'a concept'], content: 'Explain recursion to a child.' }],
    default_user_role: 'user',
    banners: [
      {
        id: 'b3f0',
        type: 'warning',
        title: '',
        content: 'Maintenance on Friday',
        dismissible: false,
        timestamp: 1_735_000_000,
      },
    ],
    watermark: null,
    pending_user_overlay_title: 'Please wait',
  },
  auth: { admin: { show: false }, jwt_expiry: '30d', enable_api_keys: true },
  ollama: {
    enable: true,
    base_urls: ['http://ollama:11434'],
    api_configs: { 0: { enable: true, tags: [], prefix_id: '', model_ids: [], connection_type: 'local' } },
  },
  openai: {
    enable: true,
    api_base_urls: ['https://api.openai.com/v1', 'https://openrouter.ai/api/v1'],
    api_keys: ['sk-first', 'sk-second'],
    api_configs: { 0: {}, 1: { enable: true, model_ids: ['a/b'], key: '' } },
  },
  user: { permissions: { workspace: { models: true, tools: true }, features: { web_search: false } } },
  rag: { chunk_size: 1500, embedding_engine: 'openai', openai_api_key: 'sk-rag', file: { max_size: null } },
  audio: { tts: { engine: '', openai: { api_base_url: '', api_key: 'sk-tts' } } },
  ldap: { enable: true, server: { host: 'ldap', app_password: 'ldap-password' } },
  task: { title: { prompt_template: '### Task:\n{{MESSAGES}}' } },
  code_execution: { engine: 'pyodide' },
  users: { enable_status: true },
  channels: { enable: true },
};

const server = await startServer();
afterAll(() => server.close());
const admin = administer(server, await signUp(server, 'Root'));

describe('an export of another system', () => {
  it('is refused as it is, with the names of the missing members', async () => {
    const { status, body } = await admin.importing(FOREIGN);
    expect([status, body.code]).toEqual([400, 'validation']);
    const paths = body.issues.map(({ path }: { path: string }) => path);
    expect(paths).toEqual(expect.arrayContaining(['ui.ENABLE_LOGIN_FORM', 'oauth', 'tool_server']));
  });

  it.each([
    ['bare', FOREIGN],
    ['wrapped', { config: FOREIGN }],
  ])('is completed with the defaults on request: %s', async (_how, body) => {
    await admin.configure(() => {});
    const { status, body: answer } = await admin.importing(body, '?fill=defaults');
    expect(status).toBe(200);
    expect(answer.hosted_model_api.api_keys).toEqual(['********', '********']);
    const stored = await admin.exported('?secrets=true');
    const { ollama, openai, user, ui, auth, version, ...others } = FOREIGN;
    expect(stored).toMatchObject({
      ...others,
      version: DEFAULT_CONFIGURATION.version,
      local_model_server: ollama,
      hosted_model_api: openai,
      ui: { ...ui, watermark: '', ENABLE_LOGIN_FORM: true, model_order_list: [] },
      auth: { ...auth, admin: { show: false, email: null } },
      oauth: DEFAULT_CONFIGURATION.oauth,
      user: { permissions: { ...user.permissions, chat: DEFAULT_CONFIGURATION.user.permissions.chat } },
    });
    expect(stored).not.toHaveProperty('ollama');
    expect(stored).not.toHaveProperty('openai');
    expect((await admin.importing(stored)).status).toBe(200);
    expect(await admin.exported('?secrets=true')).toEqual(stored);
  });

  it('takes effect at once', async () => {
    const { status } = await server.call('POST /auths/signup', {
      body: { email: 'new@example.com', name: 'New', password: 'a long password' },
    });
    expect(status).toBe(403);
  });

  it('stores no keys in clear text, and shows none in the plain export', async () => {
    const rows = JSON.stringify(await server.database.query('select data from config'));
    const plain = JSON.stringify(await admin.exported());
    for (const secret of ['sk-first', 'sk-second', 'sk-rag', 'sk-tts', 'ldap-password']) {
      expect([secret, rows.includes(secret), plain.includes(secret)]).toEqual([secret, false, false]);
    }
  });

  it.each<[string, unknown, string]>([
    ['a section under both names', { ...FOREIGN, hosted_model_api: FOREIGN.openai }, 'openai'],
    ['a wrong type', { ...FOREIGN, channels: { enable: 'yes' } }, 'channels.enable'],
    ['a section that is no object', { ...FOREIGN, ui: 'dark' }, 'ui'],
    ['an invalid version', { ...FOREIGN, version: -1 }, 'version'],
  ])('with %s is refused by name, also with the defaults', async (_what, body, path) => {
    const before = await admin.exported();
    const answer = await admin.importing(body, '?fill=defaults');
    expect([answer.status, answer.body.issues[0].path]).toEqual([400, path]);
    expect(await admin.exported()).toEqual(before);
  });

  it('can be completed only with the defaults', async () => {
    expect((await admin.importing(FOREIGN, '?fill=everything')).status).toBe(400);
  });
});
