import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { pathsOf, type Tree, valueAt } from '../../src/configs/settings/configs.settings.ts';
import { signUp, startServer } from '../support/server.ts';
import { LARGE_EXPORT, TRANSLATED } from './foreign.export.ts';
import { administer } from './support.ts';

const server = await startServer();
afterAll(() => server.close());
const root = await signUp(server, 'Root');
const admin = administer(server, root);

const { ollama, openai, ...others } = LARGE_EXPORT;
const expected: Tree = { ...others, local_model_server: ollama, hosted_model_api: openai };
/** A path cannot tell a member name with a dot from two members, so these names are left out. */
const paths = pathsOf(expected).filter((path) => !path.startsWith('context_compaction'));
const secretsOf = (text: string) => [...new Set(text.match(/secret-[\w-]+/g))];

let stored: Tree;
beforeAll(async () => {
  const { status, body } = await admin.importing(LARGE_EXPORT, '?fill=defaults');
  expect([status, body.issues]).toEqual([200, undefined]);
  stored = (await admin.exported('?secrets=true')) as Tree;
});

describe('a large export of another system', () => {
  it('has hundreds of settings and many secrets', () => {
    expect(paths.length).toBeGreaterThan(300);
    expect(secretsOf(JSON.stringify(LARGE_EXPORT)).length).toBeGreaterThan(70);
  });

  it('keeps every member, and changes only their form', () => {
    for (const path of paths) {
      const wanted = path in TRANSLATED ? TRANSLATED[path] : valueAt(expected, path);
      expect([path, valueAt(stored, path)]).toEqual([path, wanted]);
    }
    expect(stored.context_compaction).toEqual(LARGE_EXPORT.context_compaction);
  });

  it('gets the defaults for missing members, and nothing else', () => {
    const more = pathsOf(stored).filter(
      (path) => !paths.includes(path) && !path.startsWith('context_compaction'),
    );
    for (const path of more)
      expect([path, valueAt(stored, path)]).toEqual([path, valueAt(DEFAULT_CONFIGURATION, path)]);
    expect(more).toEqual(expect.arrayContaining(['oauth.enable_group_mapping', 'files.max_size']));
  });

  it('shows none of its secrets: not in the plain export, the database, the history or the audit log', async () => {
    const secrets = secretsOf(JSON.stringify(LARGE_EXPORT));
    const rows = await server.database.query(
      'select data::text from config union all select data::text from config_history union all select a::text from audit_entry a',
    );
    const shown = JSON.stringify([await admin.exported(), rows]);
    expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    expect(secretsOf(JSON.stringify(stored)).toSorted()).toEqual(secrets.toSorted());
  });

  it('is recorded in the history with its changes, and settings without effect are marked', async () => {
    const { body: history } = await server.as(root)('GET /configs/history');
    expect(history[0].changed).toEqual(
      expect.arrayContaining(['ui.default_locale', 'hosted_model_api.api_keys', 'rag', 'ldap']),
    );
    const { body: explained } = await server.as(root)('GET /configs/explain');
    const entry = (path: string) =>
      explained.settings.find((setting: { path: string }) => setting.path === path);
    expect(entry('ldap.server.host')).toMatchObject({
      used_by: 'nobody',
      meaning: 'Not known to this service',
    });
    expect(entry('folders.max_file_count')).toMatchObject({ value: '25', source: 'stored' });
  });

  it('can be exported plainly and imported again, with its masks', async () => {
    const { status } = await admin.importing(await admin.exported());
    expect(status).toBe(200);
    expect(await admin.exported('?secrets=true')).toEqual(stored);
  });

  it('takes effect: permissions, channels, sign-up', async () => {
    const { body } = await server.call('GET /config');
    expect(body).toMatchObject({
      default_locale: 'de-DE',
      features: { enable_signup: false, enable_api_keys: true },
    });
    const { body: tree } = await server.as(root)('GET /users/default/permissions');
    expect(tree).toMatchObject({ workspace: { tools: true }, features: { api_keys: true, channels: true } });
  });

  it.each<[string, (body: typeof LARGE_EXPORT) => void, string]>([
    [
      'an invalid count',
      (body) => Object.assign(body.folders, { max_file_count: [] }),
      'folders.max_file_count',
    ],
    [
      'headers that are no object',
      (body) => Object.assign(body.tool_server.connections[1] ?? {}, { headers: 'X: 1' }),
      'tool_server.connections.1.headers',
    ],
    [
      'an unknown kind of server',
      (body) => Object.assign(body.tool_server.connections[0] ?? {}, { type: 'soap' }),
      'tool_server.connections.0.type',
    ],
    [
      'an invalid permission',
      (body) => Object.assign(body.user.permissions.chat, { delete: 'no' }),
      'user.permissions.chat.delete',
    ],
    [
      'an invalid address',
      (body) => body.openai.api_base_urls.push('javascript:alert(1)'),
      'hosted_model_api.api_base_urls.12',
    ],
    ['an invalid duration', (body) => Object.assign(body.auth, { jwt_expiry: 'forever' }), 'auth.jwt_expiry'],
  ])('with %s is refused by name and changes nothing', async (_what, spoil, path) => {
    const body = structuredClone(LARGE_EXPORT);
    spoil(body);
    const answer = await admin.importing(body, '?fill=defaults');
    expect([answer.status, answer.body.issues[0].path]).toEqual([400, path]);
    expect(await admin.exported('?secrets=true')).toEqual(stored);
  });

  it('is stored whole when it and another one are imported at once, repeatedly', async () => {
    const one = { ...LARGE_EXPORT, webhook_url: 'https://one.example.com/' };
    const other = { version: 0, webhook_url: 'https://other.example.com/' };
    for (let round = 0; round < 4; round += 1) {
      const answers = await Promise.all(
        [one, other, one, other].map((body) => admin.importing(body, '?fill=defaults')),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const now = (await admin.exported('?secrets=true')) as Tree;
      const isLarge = now.webhook_url === one.webhook_url;
      expect(now).toEqual({ ...(isLarge ? stored : DEFAULT_CONFIGURATION), webhook_url: now.webhook_url });
    }
  });
});
