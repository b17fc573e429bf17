import { afterAll, describe, expect, it } from 'vitest';
import { describeSetting } from '../../src/configs/configs.catalogue.ts';
import { DEFAULT_CONFIGURATION } from '../../src/configs/configs.defaults.ts';
import { pathsOf, SETTINGS, valueAt, withValue } from '../../src/configs/configs.settings.ts';
import { type Person, signUp, signUpAs, startServer } from '../support/server.ts';
import { type Administration, administer } from './support.ts';

let root: Person;
let user: Person;
let pending: Person;
let admin: Administration;

const server = await startServer();
afterAll(() => server.close());

/** All that anybody on the network may learn of an installation. A new name here is a decision. */
const ANONYMOUS = [
  ...['status', 'name', 'version', 'default_locale', 'oauth.providers', 'onboarding'],
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
  it('says that nobody has an account, until somebody has', async () => {
    expect((await ask()).onboarding).toBe(true);
    root = await signUp(server, 'Root');
    expect((await ask()).onboarding).toBe(false);
    expect((await ask(root.token)).onboarding).toBe(false);
    user = await signUpAs(server, root, 'User', 'user');
    pending = await signUp(server, 'Pending');
    admin = administer(server, root);
  });

  it('gives no more than that to anybody who is not let in', async () => {
    await admin.configure((configuration) => {
      configuration.ui.banners = [
        { id: 'b', type: 'info', content: 'inside', dismissible: true, timestamp: 1 },
      ];
      Object.assign(configuration.ui, { unknown: 'inside' });
    });
    for (const token of [undefined, 'nonsense', `${user.token}x`, pending.token]) {
      const body = await ask(token);
      expect(pathsOf(body).toSorted()).toEqual(ANONYMOUS);
      expect(JSON.stringify(body)).not.toContain('inside');
    }
  });

  it('gives those who are let in what the interface needs, and none of the rest of the configuration', async () => {
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
        enable_folders: true,
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
  it.each(forClients)('hands out %s', async (path) => {
    const before = await ask(user.token);
    const value = valueAt(DEFAULT_CONFIGURATION, path);
    await admin.configure((configuration) => {
      Object.assign(configuration, withValue(configuration, path, another(path, value)));
    });
    expect(await ask(user.token)).not.toEqual(before);
    await admin.configure(() => {});
  });

  it('hands out every permission', async () => {
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

/** Another value that fits where this one does. */
function another(path: string, value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (path.endsWith('.banners'))
    return [{ id: 'x', type: 'x', content: 'x', dismissible: true, timestamp: 1 }];
  if (path.endsWith('.prompt_suggestions')) return [{ title: ['x'], content: 'x' }];
  return Array.isArray(value) ? ['x'] : `${value}x`;
}

describe('GET /version', () => {
  it('answers anybody with the version and the installation', async () => {
    const { status, body } = await server.call('GET /version');
    expect(status).toBe(200);
    const [row] = await server.database.query<{ id: string }>('select installation_id as id from config');
    expect(body).toEqual({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), deployment_id: row?.id });
  });
});
