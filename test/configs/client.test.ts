import { afterAll, describe, expect, it } from 'vitest';
import { describeSetting } from '../../src/configs/settings/configs.catalogue.ts';
import { DEFAULT_CONFIGURATION } from '../../src/configs/settings/configs.defaults.ts';
import { pathsOf, SETTINGS, valueAt, withValue } from '../../src/configs/settings/configs.settings.ts';
import { type Person, signUp, signUpAs, startServer } from '../support/server.ts';
import { type Administration, administer } from './support.ts';

let root: Person;
let user: Person;
let pending: Person;
let admin: Administration;

const server = await startServer();
afterAll(() => server.close());

/**
 * Everything that an anonymous caller may learn about an installation. Adding a name here needs a decision.
 */
const ANONYMOUS = [
  ...[
    'status',
    'name',
    'logo',
    'color',
    'version',
    'default_locale',
    'i18n',
    'oauth.providers',
    'oauth.auto_redirect',
  ],
  ...['onboarding'],
  ...['features.auth', 'features.auth_trusted_header', 'features.enable_signup_password_confirmation'],
  ...['features.enable_ldap', 'features.enable_api_keys', 'features.enable_signup'],
  ...['features.enable_login_form', 'features.enable_websocket'],
].toSorted();

const ask = async (token?: string) => {
  const { status, body } = await server.call('GET /config', { token });
  expect(status).toBe(200);
  return body;
};

describe('GET /config', () => {
  it('reports onboarding until the first account exists', async () => {
    expect((await ask()).onboarding).toBe(true);
    root = await signUp(server, 'Root');
    expect((await ask()).onboarding).toBe(false);
    expect((await ask(root.token)).onboarding).toBe(false);
    user = await signUpAs(server, root, 'User', 'user');
    pending = await signUp(server, 'Pending');
    admin = administer(server, root);
  });

  it('gives no more than that to callers without a full account', async () => {
    await admin.configure((configuration) => {
      configuration.ui.banners = [
        { id: 'b', type: 'info', content: 'inside', dismissible: true, timestamp: 1 },
      ];
      Object.assign(configuration.ui, { unknown: 'inside' });
    });
    for (const token of [undefined, 'nonsense', `${user.token}x`, pending.token]) {
      const { ui, ...body } = await ask(token);
      expect(pathsOf(body).toSorted()).toEqual(ANONYMOUS);
      expect(ui !== undefined).toBe(token === pending.token);
      expect(JSON.stringify(body)).not.toContain('inside');
    }
  });

  it('gives every caller the name, the logo and the colour of the installation', async () => {
    expect(await ask()).toMatchObject({ name: 'Parley', logo: '', color: '' });
    const png =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    for (const logo of ['/logo.svg', png]) {
      const brand = { name: 'Harbour', logo, color: '#0a7f5C' };
      await admin.configure(({ webui }) => void Object.assign(webui, brand));
      expect(await ask()).toMatchObject(brand);
    }
    await admin.configure((configuration) => {
      configuration.webui = { url: '' };
    });
    expect(await ask()).toMatchObject({ name: 'Parley', logo: '', color: '' });
  });

  it('shows a pending account the overlay of the configuration, and no other part of the interface', async () => {
    await admin.configure((configuration) => {
      Object.assign(configuration.ui, {
        pending_user_overlay_title: 'Wait',
        pending_user_overlay_content: null,
      });
    });
    const overlay = { pending_user_overlay_title: 'Wait', pending_user_overlay_content: '' };
    expect((await ask(pending.token)).ui).toEqual(overlay);
    expect((await ask(user.token)).ui).toMatchObject({ ...overlay, response_watermark: '' });
    expect((await ask()).ui).toBeUndefined();
  });

  it('reports missing features as off, and the limits and engines that clients read', async () => {
    await admin.configure((configuration) => {
      configuration.files = { max_size: 3 * 2 ** 20 };
      configuration.notes.enable = true;
      configuration.folders.enable = true;
    });
    const body = await ask(user.token);
    const off = [
      'notes',
      'folders',
      'memories',
      'functions',
      'tool_servers',
      'direct_integrations',
      'calendar',
    ];
    for (const name of off) expect([name, body.features[`enable_${name}`]]).toEqual([name, false]);
    expect(body.features).toMatchObject({
      ...{ enable_plugins: true, enable_tools: true, enable_password_change_form: true },
      ...{ enable_user_status: true, enable_admin_export: false },
    });
    expect(body.file).toEqual({
      max_size: 3,
      max_count: null,
      image_compression: { width: null, height: null },
    });
    expect([body.audio.tts.engine, body.audio.stt.engine, body.code.engine]).toEqual(['', 'web', '']);
  });

  it('reports whether status messages are on, and the setting takes effect', async () => {
    const as = server.as(user);
    await admin.configure((configuration) => {
      Object.assign(configuration, { users: { enable_status: false } });
    });
    expect((await ask(user.token)).features.enable_user_status).toBe(false);
    for (const call of [as('GET /users/user/status'), as('POST /users/user/status/update', {})]) {
      expect((await call).status).toBe(403);
    }
    await admin.configure(() => {});
    expect((await as('GET /users/user/status')).status).toBe(200);
  });

  it('gives members what the interface needs, and nothing else of the configuration', async () => {
    const secret = 'https://secret.example.com/';
    await admin.configure((configuration) => {
      configuration.ui.banners = [
        { id: 'b', type: 'info', content: 'inside', dismissible: true, timestamp: 1 },
      ];
      configuration.ui.prompt_suggestions = [{ title: ['Say', 'hello'], content: 'Hello' }];
      configuration.webhook_url = secret;
      configuration.hosted_model_api.api_base_urls = [secret];
      configuration.auth.admin.email = 'secret@example.com';
    });
    for (const { token } of [user, root]) {
      const body = await ask(token);
      expect(body.banners).toMatchObject([{ content: 'inside' }]);
      expect(body.default_prompt_suggestions).toEqual([{ title: ['Say', 'hello'], content: 'Hello' }]);
      expect(body.permissions.features.channels).toBe(true);
      expect(body.features).toMatchObject({
        enable_channels: true,
        enable_websocket: true,
      });
      expect(JSON.stringify(body)).not.toContain('secret');
    }
    const { body } = await server.call('GET /configs/banners', { token: user.token });
    expect(body).toMatchObject([{ id: 'b' }]);
    expect((await server.call('GET /configs/banners')).status).toBe(401);
    expect((await server.call('GET /configs/banners', { token: pending.token })).status).toBe(401);
  });

  const forClients = SETTINGS.filter(
    (path) => describeSetting(path).used_by === 'clients' && !path.startsWith('user.permissions.'),
  );
  it.each(forClients)('returns %s', async (path) => {
    const before = await ask(user.token);
    const value = valueAt(DEFAULT_CONFIGURATION, path);
    await admin.configure((configuration) => {
      Object.assign(configuration, withValue(configuration, path, another(path, value)));
    });
    expect(await ask(user.token)).not.toEqual(before);
    await admin.configure(() => {});
  });

  it('returns every permission', async () => {
    await admin.configure((configuration) => {
      for (const section of Object.values(configuration.user.permissions)) {
        for (const [leaf, value] of Object.entries(section)) section[leaf] = !value;
      }
    });
    const { permissions } = await ask(user.token);
    for (const path of pathsOf(DEFAULT_CONFIGURATION.user.permissions)) {
      expect([path, valueAt(permissions, path)]).toEqual([
        path,
        !valueAt(DEFAULT_CONFIGURATION.user.permissions, path),
      ]);
    }
  });
});

/** Another valid value for the same setting. */
function another(path: string, value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (path.endsWith('.banners'))
    return [{ id: 'x', type: 'x', content: 'x', dismissible: true, timestamp: 1 }];
  if (path.endsWith('.prompt_suggestions')) return [{ title: ['x'], content: 'x' }];
  if (path === 'webui.logo') return '/logo.svg';
  if (path === 'webui.color') return '#0a7f5c';
  return Array.isArray(value) ? ['x'] : `${value}x`;
}

describe('questions of clients about the server', () => {
  it('are answered without a request to another server', async () => {
    const { version } = (await server.call('GET /version')).body;
    const { token } = user;
    expect((await server.call('GET /version/updates', { token })).body).toEqual({
      current: version,
      latest: null,
    });
    expect((await server.call('GET /version/updates')).status).toBe(401);
    expect((await server.call('GET /changelog')).body).toEqual({});
  });

  it('are answered for administrators with the number of present people', async () => {
    const { body } = await server.call('GET /usage', { token: root.token });
    expect(body).toEqual({ model_ids: [], user_count: expect.any(Number) });
    expect(body.user_count).toBeGreaterThanOrEqual(2);
    expect((await server.call('GET /usage', { token: user.token })).status).toBe(403);
  });
});

describe('GET /version', () => {
  it('returns the version and the id of the installation to every caller', async () => {
    const { status, body } = await server.call('GET /version');
    expect(status).toBe(200);
    const [row] = await server.database.query<{ id: string }>('select installation_id as id from config');
    expect(body).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), deployment_id: row?.id });
  });
});
