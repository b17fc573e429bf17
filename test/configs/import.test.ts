import { afterAll, describe, expect, it } from 'vitest';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { withClient } from '../support/database.ts';
import { until } from '../support/poll.ts';
import { type Answer, signUp, signUpAs, startServer } from '../support/server.ts';

// Two of the tests make the database fail, which logs errors.
const server = await startServer({ env: { LOG_LEVEL: 'silent' } });
afterAll(() => server.close());
const root = await signUp(server, 'Root');

type Tree = Record<string, unknown>;
const fresh = (): Tree & typeof DEFAULT_CONFIGURATION => structuredClone(DEFAULT_CONFIGURATION);
const importing = (body: unknown, token = root.token, query = '') =>
  server.call(`POST /configs/import${query}`, { token, body });
const exported = async () => (await server.call('GET /configs/export', { token: root.token })).body;
const stored = () =>
  server.database.query<{ revision: number; data: Tree }>('select revision, data from config');

/** The members of the reference are listed here again, so that a missing default is noticed. */
const MEMBERS: Record<string, string> = {
  ui: `enable_signup ENABLE_LOGIN_FORM default_locale default_models default_pinned_models model_order_list
    prompt_suggestions default_user_role default_group_id watermark enable_community_sharing enable_message_rating
    enable_user_webhooks banners`,
  auth: 'enable_api_keys api_key jwt_expiry admin',
  'auth.api_key': 'endpoint_restrictions allowed_endpoints',
  'auth.admin': 'show email',
  oauth: `enable_signup merge_accounts_by_email enable_role_mapping enable_group_mapping enable_group_creation
    update_picture_on_login update_name_on_login update_email_on_login allowed_domains`,
  local_model_server: 'enable base_urls api_configs',
  hosted_model_api: 'enable api_keys api_base_urls api_configs',
  models: 'base_models_cache default_metadata default_params',
  tool_server: 'connections',
  terminal_server: 'connections',
  direct: 'enable',
  webui: 'url',
  user: 'permissions',
  'user.permissions': 'workspace sharing chat features settings',
  folders: 'enable max_file_count',
  channels: 'enable',
  notes: 'enable',
};
const required = [
  ...'version ui auth oauth local_model_server hosted_model_api models tool_server terminal_server direct webui'.split(
    ' ',
  ),
  ...'user folders channels notes webhook_url'.split(' '),
  ...Object.entries(MEMBERS).flatMap(([section, names]) =>
    names.split(/\s+/).map((name) => `${section}.${name}`),
  ),
];

/** The object with a member, and the name of the member in it. */
function locate(tree: Tree, path: string): [Tree, string] {
  const names = path.split('.');
  const last = names.pop() ?? '';
  return [names.reduce((at, name) => at[name] as Tree, tree), last];
}
function get(tree: Tree, path: string): unknown {
  const [holder, name] = locate(tree, path);
  return holder[name];
}

describe('the export', () => {
  it('has every member of the reference, with the defaults of a new installation', async () => {
    const body = await exported();
    expect(body).toEqual(DEFAULT_CONFIGURATION);
    for (const path of required) expect(get(body, path), path).toBeDefined();
    expect(body).toMatchObject({
      ui: { enable_signup: true, default_user_role: 'pending' },
      auth: { jwt_expiry: '4w', enable_api_keys: false },
      channels: { enable: true },
    });
  });

  it('and the import require an administrator', async () => {
    const user = await signUpAs(server, root, 'User', 'user');
    expect((await server.call('GET /configs/export', { token: user.token })).status).toBe(403);
    expect((await importing(fresh(), user.token)).status).toBe(403);
    expect((await server.call('POST /configs/import', { body: fresh() })).status).toBe(401);
  });
});

describe('the import of a complete object', () => {
  it.each([
    ['bare', (configuration: Tree) => configuration],
    ['wrapped', (config: Tree) => ({ config })],
  ])('replaces everything and answers with the stored configuration: %s', async (how, wrap) => {
    const configuration = fresh();
    configuration.ui.watermark = how;
    configuration.webhook_url = 'https://example.com/hook';
    configuration.ui.banners = [
      { id: 'b', type: 'info', content: 'Hello', dismissible: true, timestamp: 1_700_000_000 },
    ];
    const { status, body } = await importing(wrap(configuration));
    expect([status, body]).toEqual([200, configuration]);
    expect(await exported()).toEqual(configuration);
    expect((await stored())[0]?.data).toEqual(configuration);
  });

  it('lists its changes, also in a dry run', async () => {
    const asStored = await exported();
    const configuration = { ...fresh(), webhook_url: 'https://example.com/tried' };
    configuration.ui.watermark = 'tried';
    const changed = ({ headers }: Answer) => headers.get('x-changed-settings');
    const tried = await importing(configuration, root.token, '?dry_run=true');
    expect([tried.status, tried.body]).toEqual([200, configuration]);
    expect(changed(tried)).toContain('ui.watermark');
    expect(await exported()).toEqual(asStored);
    const done = await importing(configuration);
    expect(changed(done)).toBe(changed(tried));
    expect(changed(await importing(configuration))).toBe('total=0');
  });

  it.each([{}, { version: 1 }, { unknown: true }])(
    'refuses %j, which would reset every setting when the defaults are filled in',
    async (nothing) => {
      const before = await exported();
      const answer = await importing(nothing, root.token, '?fill=defaults');
      expect([answer.status, answer.body.code]).toEqual([400, 'validation']);
      expect(await exported()).toEqual(before);
    },
  );

  it.each(['http://127.0.0.1/hook', 'http://169.254.169.254/latest', 'http://localhost:5432/'])(
    'refuses a webhook address that may not be called: %s',
    async (webhook_url) => {
      const answers = [
        await importing({ ...fresh(), webhook_url }),
        await importing({ ...fresh(), webhook_url }, root.token, '?dry_run=true'),
        await server.call('POST /webhook', { token: root.token, body: { url: webhook_url } }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.code, body.issues?.[0].path]).toEqual([400, 'address_refused', 'webhook_url']);
      }
    },
  );

  it('accepts a tool server with only url and path', async () => {
    const configuration = fresh();
    const tool_server = { connections: [{ url: 'https://tools.example.com', path: 'openapi.json' }] };
    const { status, body } = await importing({ ...configuration, tool_server });
    expect([status, body.tool_server.connections]).toEqual([
      200,
      [
        {
          url: 'https://tools.example.com',
          path: 'openapi.json',
          type: 'openapi',
          auth_type: null,
          key: null,
          config: null,
        },
      ],
    ]);
    expect((await exported()).tool_server).toEqual(body.tool_server);
  });

  it('keeps unknown members at every depth, and accepts its own export again', async () => {
    const configuration = fresh();
    Object.assign(configuration, { rag: { chunk_size: 1000, nested: [{ a: null }] } });
    Object.assign(configuration.ui, { pending_user_overlay_title: 'Wait' });
    Object.assign(configuration.auth.api_key, { extra: { deep: true } });
    Object.assign(configuration.user.permissions, { other_section: { leaf: true } });
    const { status, headers } = await importing(configuration);
    expect([status, headers.get('x-ignored-members')]).toEqual([200, null]);
    const answer = await exported();
    expect(answer).toEqual(configuration);
    expect((await importing(answer)).body).toEqual(answer);
  });

  it('counts a revision and records the author', async () => {
    const [before] = await stored();
    await importing(fresh());
    const rows = await server.database.query('select id, revision, updated_by from config');
    expect(rows).toEqual([{ id: 1, revision: (before?.revision ?? 0) + 1, updated_by: root.id }]);
  });

  it('stores each of many concurrent imports whole, and ends with one of them', async () => {
    const all = Array.from({ length: 12 }, (_, i) => {
      const configuration = fresh();
      configuration.ui.watermark = `mark ${i}`;
      configuration.ui.default_locale = `locale ${i}`;
      configuration.webui.url = `https://${i}.example.com`;
      return configuration;
    });
    const answers = await Promise.all(all.map((configuration) => importing(configuration)));
    expect(answers.map(({ status, body }) => [status, body])).toEqual(
      all.map((configuration) => [200, configuration]),
    );
    const last = await exported();
    expect(all).toContainEqual(last);
    expect((await stored())[0]?.data).toEqual(last);
  });
});

describe('a refused import changes nothing:', () => {
  const refused = async (body: unknown) => {
    const before = await stored();
    const answer = await importing(body);
    expect(await stored()).toEqual(before);
    expect(await exported()).toEqual(before[0]?.data);
    return answer;
  };

  it.each(required)('without %s', async (path) => {
    const configuration = fresh();
    const [holder, name] = locate(configuration, path);
    delete holder[name];
    const { status, body } = await refused(configuration);
    expect([status, body.code]).toEqual([400, 'validation']);
    expect(body.detail).toContain(path);
    expect(body.issues[0].path).toMatch(new RegExp(`(^|\\.)${path}$`));
  });

  it.each<[string, unknown]>([
    ['version', '1'],
    ['version', -1],
    ['ui', []],
    ['ui.enable_signup', 'yes'],
    ['ui.default_user_role', 'root'],
    ['ui.model_order_list', 'a,b'],
    ['ui.banners', [{ id: 'b' }]],
    ['ui.prompt_suggestions', [{ title: 'text' }]],
    ['auth.jwt_expiry', 'soon'],
    ['auth.jwt_expiry', ''],
    ['auth.jwt_expiry', '0s'],
    ['auth.jwt_expiry', '10ms'],
    ['auth.jwt_expiry', '-4w'],
    ['auth.jwt_expiry', '99999999999999w'],
    ['hosted_model_api.api_base_urls', ['ftp://example.com']],
    ['hosted_model_api.api_base_urls', ['javascript:alert(1)']],
    ['webhook_url', 'file:///etc/passwd'],
    ['webui.url', 'nonsense'],
    ['webui.name', ''],
    ['webui.name', 'two\nlines'],
    ['webui.logo', 'https://elsewhere.example.com/logo.png'],
    ['webui.logo', '//elsewhere.example.com/logo.png'],
    ['webui.logo', '/\\elsewhere.example.com/logo.png'],
    ['webui.logo', 'data:image/svg+xml;base64,PHN2Zy8+'],
    ['webui.logo', `data:image/png;base64,${'A'.repeat(100_000)}`],
    ['webui.color', 'red'],
    ['webui.color', '#36c'],
    ['user.permissions', { workspace: { tools: 'yes' } }],
    ['user.permissions.features', { channels: 1 }],
    ['channels', { enable: null }],
    ['ui.watermark', 'NUL \u0000'],
    ['ui.watermark', 'half \ud800'],
    ['models.default_params', { 'NUL \u0000': 1 }],
  ])('with %s = %j', async (path, value) => {
    const configuration = fresh();
    const [holder, name] = locate(configuration, path);
    holder[name] = value;
    const { status, body } = await refused(configuration);
    expect([status, body.code]).toEqual([400, 'validation']);
  });

  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['text', 'x'],
    ['null', null],
    ['an empty object', {}],
    ['an empty wrapper', { config: {} }],
    ['a part of it', { ui: DEFAULT_CONFIGURATION.ui }],
  ])('with a body of %s', async (_what, body) => {
    const answer = await refused(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation']);
  });

  it('of a newer version', async () => {
    const { status, body } = await refused({ ...fresh(), version: DEFAULT_CONFIGURATION.version + 1 });
    expect([status, body.code]).toEqual([400, 'config_newer']);
    expect(body.detail).toContain('Update the server');
  });

  it('that is too large', async () => {
    const { status } = await refused({ ...fresh(), more: 'x'.repeat(4 * 1024 * 1024) });
    expect(status).toBe(413);
  });

  it('that the database cannot finish', async () => {
    // A constraint replaces a crash in the middle: the whole transaction is rolled back.
    await server.database.query(
      'alter table config add constraint broken check (data -> $$ui$$ ->> $$watermark$$ <> $$crash$$)',
    );
    const configuration = fresh();
    configuration.ui.watermark = 'crash';
    const { status, body } = await refused(configuration);
    expect([status, body.code]).toEqual([500, 'internal']);
    expect(JSON.stringify(body)).not.toContain('broken');
    await server.database.query('alter table config drop constraint broken');
    expect((await importing(fresh())).status).toBe(200);
  });

  it('whose connection the database closes in the middle', async () => {
    const before = await stored();
    const waiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await withClient(server.database.url, async (holder) => {
      await holder.query('begin');
      await holder.query('select from config for update');
      const pending = importing({ ...fresh(), webhook_url: 'https://example.com/cut' });
      const { query } = server.database;
      await until('the import to wait', async () => (await query(`select ${waiting}`)).length > 0);
      await query(`select pg_terminate_backend(pid) ${waiting}`);
      expect((await pending).status).toBe(503);
    });
    expect(await stored()).toEqual(before);
    expect((await importing(fresh())).status).toBe(200);
  });
});
