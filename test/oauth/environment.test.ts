import { describe, expect, it } from 'vitest';
import { createOAuth } from '../../src/auth/oauth/oauth.providers.ts';
import { readEnv, StartError } from '../../src/env.ts';
import { startServer } from '../support/server.ts';

describe('the environment of providers', () => {
  it('is shown to clients without secrets', async () => {
    const server = await startServer({
      env: {
        OPENID_PROVIDER_URL: 'https://id.corp.example',
        OAUTH_CLIENT_ID: 'parley',
        OAUTH_CLIENT_SECRET: 'a secret',
        OAUTH_PROVIDER_NAME: 'Corp',
        GITHUB_CLIENT_ID: 'id',
        GITHUB_CLIENT_SECRET: 'another secret',
        ENABLE_LDAP: 'true',
        LDAP_SEARCH_BASE: 'dc=corp',
      },
    });
    try {
      const { body } = await server.call('GET /config');
      expect(body.oauth).toEqual({ providers: { oidc: 'Corp', github: 'GitHub' }, auto_redirect: false });
      expect(body.features.enable_ldap).toBe(true);
      expect(JSON.stringify(body)).not.toMatch(/secret/);
    } finally {
      await server.close();
    }
  });

  it('includes Google and one tenant of Microsoft', () => {
    const { providers } = createOAuth(
      readEnv({
        GOOGLE_CLIENT_ID: 'a',
        GOOGLE_CLIENT_SECRET: 'b',
        MICROSOFT_CLIENT_ID: 'c',
        MICROSOFT_CLIENT_SECRET: 'd',
        MICROSOFT_CLIENT_TENANT_ID: '7d9c1f2e-0000-4000-8000-000000000000',
      }),
    );
    expect([...providers.values()].map(({ name }) => name)).toEqual(['Google', 'Microsoft']);
  });

  it.each([
    [{ OAUTH_CLIENT_ID: 'a' }, /OPENID_PROVIDER_URL is wrong: it must be set where OAUTH_CLIENT_ID is/],
    [{ OPENID_PROVIDER_URL: 'https://id.example' }, /OAUTH_CLIENT_ID/],
    [{ OPENID_PROVIDER_URL: 'id.example', OAUTH_CLIENT_ID: 'a' }, /OPENID_PROVIDER_URL/],
    [{ GOOGLE_CLIENT_ID: 'a' }, /GOOGLE_CLIENT_SECRET/],
    [{ MICROSOFT_CLIENT_ID: 'a', MICROSOFT_CLIENT_SECRET: 'b' }, /MICROSOFT_CLIENT_TENANT_ID/],
    [{ MICROSOFT_CLIENT_TENANT_ID: '../x' }, /MICROSOFT_CLIENT_TENANT_ID/],
    [{ GITHUB_CLIENT_SECRET: 'a' }, /GITHUB_CLIENT_ID/],
    [{ OAUTH_TRUSTED_EMAIL_PROVIDERS: 'oidc,other' }, /OAUTH_TRUSTED_EMAIL_PROVIDERS/],
  ])('stops the start when it is invalid: %o', (wrong, named) => {
    const start = () => createOAuth(readEnv(wrong));
    expect(start).toThrow(StartError);
    expect(start).toThrow(named);
  });
});
