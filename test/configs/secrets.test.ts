import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import type { Configuration } from '../../src/configs/settings/configs.schema.ts';
import { createDatabase } from '../support/database.ts';
import { signIn, signUp, startServer } from '../support/server.ts';
import { administer } from './support.ts';

const MASK = '********';
const ONE = 'https://one.example.com/v1';
const TWO = 'https://two.example.com/v1';

const server = await startServer({ env: { LOG_LEVEL: 'silent' } });
afterAll(() => server.close());
const root = await signUp(server, 'Root');
const admin = administer(server, root);

const tool = (url: string, key: string) => ({
  url,
  path: 'openapi.json',
  type: 'openapi' as const,
  auth_type: 'bearer',
  headers: { 'X-Tenant': `${key}-header` },
  key,
  config: { enable: true },
});

/** Two providers with a key each, two tool servers, and secrets in members that only other systems know. */
function withSecrets(configuration: Configuration): void {
  configuration.hosted_model_api = {
    enable: true,
    api_base_urls: [ONE, TWO],
    api_keys: ['sk-one', 'sk-two'],
    api_configs: {
      0: { headers: { Authorization: 'one-header' } },
      [TWO]: { key: 'two-config', tags: ['a'] },
    },
  };
  configuration.tool_server.connections = [
    tool('https://a.example.com', 'tool-a'),
    tool('https://b.example.com', 'tool-b'),
  ];
  Object.assign(configuration, {
    ldap: { server: { app_dn: 'cn=app', app_password: 'ldap-secret' } },
    audio: { stt: { openai: { apiKey: 'stt-secret', engine: 'whisper' } } },
  });
}
const SECRETS = [
  ...['sk-one', 'sk-two', 'one-header', 'two-config', 'tool-a', 'tool-a-header', 'tool-b', 'tool-b-header'],
  ...['ldap-secret', 'stt-secret'],
];

describe('secrets of the configuration', () => {
  it('are masked in the export and in the answer to an import, unless requested', async () => {
    const answer = await admin.configure(withSecrets);
    const exported = await admin.exported();
    expect(answer).toEqual(exported);
    for (const secret of SECRETS) expect(JSON.stringify(exported)).not.toContain(secret);
    expect(exported.hosted_model_api).toEqual({
      enable: true,
      api_base_urls: [ONE, TWO],
      api_keys: [MASK, MASK],
      api_configs: { 0: { headers: { Authorization: MASK } }, [TWO]: { key: MASK, tags: ['a'] } },
    });
    expect(exported).toMatchObject({
      ldap: { server: { app_dn: 'cn=app', app_password: MASK } },
      audio: { stt: { openai: { apiKey: MASK, engine: 'whisper' } } },
    });
    const clear = JSON.stringify(await admin.exported('?secrets=true'));
    for (const secret of SECRETS) expect(clear).toContain(secret);
    const { body } = await admin.importing(exported, '?secrets=true');
    for (const secret of SECRETS) expect(JSON.stringify(body)).toContain(secret);
  });

  it('are not masked when they are empty; similar names are not masked either', async () => {
    await admin.configure((configuration) => {
      configuration.hosted_model_api.api_base_urls = [ONE];
      configuration.hosted_model_api.api_keys = [''];
      configuration.auth.api_key.allowed_endpoints = '/api/v1/tools';
      configuration.models.default_params = { max_tokens: 100, monkey: 'ape' };
    });
    const exported = await admin.exported();
    expect(exported.hosted_model_api.api_keys).toEqual(['']);
    expect(exported.auth.api_key.allowed_endpoints).toBe('/api/v1/tools');
    expect(exported.models.default_params).toEqual({ max_tokens: 100, monkey: 'ape' });
  });

  it('are sealed in every row of the database, and in the history', async () => {
    await admin.configure(withSecrets);
    const rows = await server.database.query(
      'select data::text from config union all select data::text from config_history',
    );
    for (const secret of SECRETS) expect(JSON.stringify(rows)).not.toContain(secret);
    expect(JSON.stringify(rows)).toContain('sealed:v1.');
  });

  it('are available after a restart with the same secret key', async () => {
    const database = await createDatabase();
    const start = async () => {
      const one = await startServer({ database, env: { LOG_LEVEL: 'silent' } });
      const person = await signIn(one, root).catch(() => signUp(one, 'Root'));
      return { ...administer(one, person), close: () => one.close() };
    };
    const first = await start();
    await first.configure(withSecrets);
    const before = await first.exported('?secrets=true');
    await first.close();
    const second = await start();
    expect(await second.exported('?secrets=true')).toEqual(before);
    await second.close();
    await database.drop();
  });
});

describe('a mask that is imported', () => {
  it('keeps the stored secret', async () => {
    await admin.configure(withSecrets);
    const clear = await admin.exported('?secrets=true');
    const masked = await admin.exported();
    masked.ui.watermark = 'changed';
    expect((await admin.importing(masked)).status).toBe(200);
    expect(await admin.exported('?secrets=true')).toEqual({
      ...clear,
      ui: { ...clear.ui, watermark: 'changed' },
    });
  });

  it('belongs to its address when entries are moved, removed, or added with their own secret', async () => {
    await admin.configure(withSecrets);
    const masked = await admin.exported();
    masked.hosted_model_api = {
      enable: true,
      api_base_urls: [TWO, 'https://three.example.com/v1', ONE],
      api_keys: [MASK, 'sk-three', MASK],
      api_configs: { 2: { headers: { Authorization: MASK } } },
    };
    masked.tool_server.connections = masked.tool_server.connections.slice(1);
    expect((await admin.importing(masked)).status).toBe(200);
    const clear = await admin.exported('?secrets=true');
    expect(clear.hosted_model_api).toMatchObject({
      api_keys: ['sk-two', 'sk-three', 'sk-one'],
      api_configs: { 2: { headers: { Authorization: 'one-header' } } },
    });
    expect(clear.tool_server.connections).toMatchObject([
      { key: 'tool-b', headers: { 'X-Tenant': 'tool-b-header' } },
    ]);
  });

  it('belongs to the entry at the same position when two entries have one address', async () => {
    await admin.configure(({ hosted_model_api }) => {
      Object.assign(hosted_model_api, { api_base_urls: [ONE, ONE], api_keys: ['sk-first', 'sk-second'] });
    });
    const masked = await admin.exported();
    masked.hosted_model_api.api_base_urls.unshift(TWO);
    masked.hosted_model_api.api_keys.unshift('sk-two');
    await admin.importing(masked);
    const { hosted_model_api } = await admin.exported('?secrets=true');
    expect(hosted_model_api.api_keys).toEqual(['sk-two', 'sk-first', 'sk-second']);
  });

  it('is refused by name for another address, and nothing changes', async () => {
    await admin.configure(withSecrets);
    const before = await admin.exported('?secrets=true');
    const masked = await admin.exported();
    masked.hosted_model_api.api_base_urls[1] = 'https://attacker.example.com/v1';
    const [connection] = masked.tool_server.connections;
    if (connection) connection.url = 'https://attacker.example.com';
    const { status, body } = await admin.importing(masked);
    expect([status, body.code]).toEqual([400, 'validation']);
    expect(body.detail).toContain('hosted_model_api.api_keys.1: is masked');
    expect(body.issues.map(({ path }: { path: string }) => path)).toEqual([
      'hosted_model_api.api_keys.1',
      'tool_server.connections.0.headers.X-Tenant',
      'tool_server.connections.0.key',
    ]);
    expect(await admin.exported('?secrets=true')).toEqual(before);
  });

  it('is refused on an installation without stored secrets', async () => {
    await admin.configure(() => {});
    const masked = structuredClone(DEFAULT_CONFIGURATION);
    withSecrets(masked);
    masked.hosted_model_api.api_keys = [MASK, MASK];
    expect((await admin.importing(masked)).status).toBe(400);
  });
});
