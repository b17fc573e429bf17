import { afterAll, describe, expect, it } from 'vitest';
import { signUpAll, startServer } from '../support/server.ts';

/** Ways to sign in besides the password, in the form that clients of Open WebUI show and change them. */
const server = await startServer({
  env: {
    OPENID_PROVIDER_URL: 'https://id.example.com',
    OAUTH_CLIENT_ID: 'parley',
    OAUTH_CLIENT_SECRET: 'the secret of the client',
    LDAP_APP_PASSWORD: 'the password of the directory',
  },
});
const { as } = server;
afterAll(() => server.close());
const [root, user] = await signUpAll(server, 'Root', 'User');
const PATHS = ['ldap', 'ldap/server', 'oauth'].map((path) => `/auths/admin/config/${path}`);

it.each(PATHS)('%s is for administrators, and shows no secret', async (path) => {
  for (const method of ['GET', 'POST']) {
    expect((await as(user)(`${method} ${path}`, method === 'POST' ? {} : undefined)).status).toBe(403);
    expect((await server.call(`${method} ${path}`)).status).toBe(401);
  }
  const { status, body } = await as(root)(`GET ${path}`);
  expect(status).toBe(200);
  expect(JSON.stringify(body)).not.toContain('the ');
});

it('directory settings of the environment may be sent back unchanged, but not changed', async () => {
  const { body: state } = await as(root)('GET /auths/admin/config/ldap');
  expect(state).toEqual({ ENABLE_LDAP: false });
  const set = (enable_ldap: unknown) => as(root)('POST /auths/admin/config/ldap', { enable_ldap });
  expect((await set(false)).body).toEqual(state);
  expect((await set(null)).body).toEqual(state);
  expect((await set(true)).body.code).toBe('config_locked');
  const PATH = '/auths/admin/config/ldap/server';
  const { body: directory } = await as(root)(`GET ${PATH}`);
  expect(directory).toMatchObject({ host: 'localhost', app_dn_password: '********', use_tls: true });
  expect((await as(root)(`POST ${PATH}`, { ...directory, label: 'Ours', ciphers: 'ALL' })).body).toEqual(
    directory,
  );
  const other = await as(root)(`POST ${PATH}`, { ...directory, host: 'ldap.example.com', app_dn: 'x' });
  expect([other.status, other.body.issues.map(({ path }: { path: string }) => path)]).toEqual([
    409,
    ['host', 'app_dn'],
  ]);
  expect(other.body.detail).toContain('LDAP_SERVER_HOST');
  expect(other.body.issues[1].message).toContain('LDAP_APP_DN');
});

describe('sign-in through providers', () => {
  const PATH = '/auths/admin/config/oauth';
  const read = async () => (await as(root)(`GET ${PATH}`)).body;

  it('shows the settings of the configuration, which apply at once, and those of the environment', async () => {
    const before = await read();
    expect(before).toMatchObject({
      ...{ ENABLE_OAUTH: true, ENABLE_OAUTH_SIGNUP: false, OAUTH_ALLOWED_DOMAINS: '*' },
      ...{ OAUTH_CLIENT_ID: 'parley', OAUTH_CLIENT_SECRET: '********', OAUTH_PROVIDER_NAME: 'SSO' },
    });
    const sent = { ...before, ENABLE_OAUTH_SIGNUP: true, OAUTH_ALLOWED_DOMAINS: 'a.example, b.example' };
    const { status, body } = await as(root)(`POST ${PATH}`, sent);
    expect([status, body]).toEqual([200, sent]);
    expect(await read()).toEqual(sent);
    const { body: configuration } = await as(root)('GET /configs/export');
    expect(configuration.oauth).toMatchObject({
      enable_signup: true,
      allowed_domains: ['a.example', 'b.example'],
    });
    const kept = await as(root)(`POST ${PATH}`, { ENABLE_OAUTH_SIGNUP: null });
    expect(kept.body).toEqual(sent);
  });

  it.each([{ OAUTH_CLIENT_ID: 'other' }, { OAUTH_CLIENT_SECRET: 'another secret' }, { ENABLE_OAUTH: false }])(
    'keeps the settings of the environment: %j',
    async (other) => {
      const before = await read();
      const { status, body } = await as(root)(`POST ${PATH}`, {
        ...before,
        ENABLE_OAUTH_SIGNUP: false,
        ...other,
      });
      expect([status, body.code]).toEqual([409, 'config_locked']);
      expect(body.detail).toMatch(/environment variable \w*OAUTH_CLIENT_/);
      expect(await read()).toEqual(before);
    },
  );
});
