import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOAuth } from '../../src/auth/oauth/oauth.providers.ts';
import { readEnv } from '../../src/env.ts';
import { egressToHere, startTarget, type Target } from '../egress/targets.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { PNG } from '../webhooks/pictures.ts';
import { openBrowser } from './browser.ts';
import { startGitHub, type TestGitHub } from './github.ts';
import { startInternet, withoutOpenssl } from './internet.ts';
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from './provider.ts';

const TENANT = '7d9c1f2e-0000-4000-8000-000000000000';

describe.skipIf(withoutOpenssl)('a sign-in at a public provider (needs openssl)', () => {
  let google: TestProvider;
  let microsoft: TestProvider;
  let github: TestGitHub;
  let pictures: Target;
  let internet: { close(): Promise<void> };
  let server: TestServer;

  beforeAll(async () => {
    google = await startProvider('https://accounts.google.com');
    microsoft = await startProvider(`https://login.microsoftonline.com/${TENANT}/v2.0`);
    github = await startGitHub();
    pictures = await startTarget((_request, response) =>
      response.end(Buffer.from(PNG.split(',')[1] ?? '', 'base64')),
    );
    internet = await startInternet({
      'accounts.google.com': google.port,
      'login.microsoftonline.com': microsoft.port,
      'github.com': github.port,
      'api.github.com': github.port,
    });
    server = await startServer({
      egress: egressToHere(),
      env: {
        GOOGLE_CLIENT_ID: CLIENT_ID,
        GOOGLE_CLIENT_SECRET: CLIENT_SECRET,
        MICROSOFT_CLIENT_ID: CLIENT_ID,
        MICROSOFT_CLIENT_SECRET: CLIENT_SECRET,
        MICROSOFT_CLIENT_TENANT_ID: TENANT,
        GITHUB_CLIENT_ID: 'id',
        GITHUB_CLIENT_SECRET: 'secret',
        ENABLE_OAUTH_SIGNUP: 'true',
        OAUTH_ALLOWED_DOMAINS: 'corp.example',
        OAUTH_UPDATE_PICTURE_ON_LOGIN: 'true',
      },
    });
  });
  beforeEach(() => void pictures.heard.splice(0));
  afterAll(async () => {
    await server.close();
    await internet.close();
    for (const one of [google, microsoft, github, pictures]) await one.close();
  });

  async function enter(provider: string) {
    const browser = openBrowser();
    const { url, trail } = await browser.visit(
      `${server.url}/oauth/${provider}/login`,
      new RegExp(`^${server.url}/auth(\\?|$)`),
    );
    const token = browser.cookie(server.url, 'token');
    const { body } = await server.call('GET /auths', { token });
    return { error: new URL(url).searchParams.get('error'), body, trail };
  }

  it('of Google uses the verified address, the name and the picture', async () => {
    const picture = `${pictures.url}/a/photo`;
    google.signsIn('1001', { name: 'Ann', email: 'ann@corp.example', email_verified: true, picture });
    const { error, body, trail } = await enter('google');
    expect(error).toBeNull();
    expect(trail[1]).toMatch(/^https:\/\/accounts\.google\.com\//);
    expect(body).toMatchObject({ email: 'ann@corp.example', name: 'Ann', profile_image_url: PNG });
    expect(pictures.heard).toMatchObject([{ url: '/a/photo', headers: { host: /target\.example/ } }]);
    // Another host than that of the provider gets no token.
    expect(pictures.heard[0]?.headers.authorization).toBeUndefined();
  });

  it('of Google refuses an address that is not verified', async () => {
    google.signsIn('1002', { name: 'Eve', email: 'eve@corp.example', email_verified: false });
    expect((await enter('google')).error).toMatch(/has not verified/);
  });

  it('of a Microsoft tenant goes to that tenant, whose addresses count as verified only when they are trusted', async () => {
    microsoft.signsIn('pairwise', { name: 'Bob', email: 'bob@corp.example' });
    const { error, trail } = await enter('microsoft');
    expect(trail[1]).toMatch(new RegExp(`^https://login\\.microsoftonline\\.com/${TENANT}/v2\\.0/`));
    expect(error).toMatch(/has not verified/);

    const trusting = await startServer({
      egress: egressToHere(),
      env: {
        MICROSOFT_CLIENT_ID: CLIENT_ID,
        MICROSOFT_CLIENT_SECRET: CLIENT_SECRET,
        MICROSOFT_CLIENT_TENANT_ID: TENANT,
        ENABLE_OAUTH_SIGNUP: 'true',
        OAUTH_ALLOWED_DOMAINS: 'corp.example',
        OAUTH_TRUSTED_EMAIL_PROVIDERS: 'microsoft',
      },
    });
    try {
      const browser = openBrowser();
      await browser.visit(
        `${trusting.url}/oauth/microsoft/login`,
        new RegExp(`^${trusting.url}/auth(\\?|$)`),
      );
      const token = browser.cookie(trusting.url, 'token');
      const { body } = await trusting.call('GET /auths', { token });
      expect(body).toMatchObject({ email: 'bob@corp.example', name: 'Bob', role: 'admin' });
    } finally {
      await trusting.close();
    }
  });

  it('of Microsoft refuses a token of another tenant', async () => {
    microsoft.spoil = (claims) => ({ ...claims, iss: 'https://login.microsoftonline.com/other/v2.0' });
    try {
      microsoft.signsIn('pairwise', { name: 'Bob', email: 'bob@corp.example', email_verified: true });
      expect((await enter('microsoft')).error).toMatch(/did not succeed/);
    } finally {
      microsoft.spoil = undefined;
    }
  });

  it('of GitHub uses the primary verified address of its API, and the picture', async () => {
    github.account = { id: 7, login: 'cleo', name: null, avatar_url: `${pictures.url}/u/7` };
    github.addresses = [
      { email: 'cleo@home.example', primary: false, verified: true },
      { email: 'cleo@corp.example', primary: true, verified: true },
    ];
    const { error, body } = await enter('github');
    expect(error).toBeNull();
    expect(body).toMatchObject({ email: 'cleo@corp.example', name: 'cleo', profile_image_url: PNG });
    github.addresses = [{ email: 'cleo@corp.example', primary: true, verified: false }];
    expect((await enter('github')).error).toMatch(/has not verified/);
  });

  it('keeps equal subjects of two providers apart', async () => {
    google.signsIn('7', { name: 'Seven', email: 'seven@corp.example', email_verified: true });
    const { body } = await enter('google');
    expect(body).toMatchObject({ email: 'seven@corp.example' });
    const rows = await server.database.query(
      `select issuer from identity where subject = '7' order by issuer`,
    );
    expect(rows).toEqual([{ issuer: 'https://accounts.google.com' }, { issuer: 'https://github.com' }]);
  });
});

it.each(['common', 'organizations', 'consumers', 'Common'])(
  'refuses to trust the addresses of all tenants: %s',
  (tenant) => {
    const env = {
      MICROSOFT_CLIENT_ID: 'a',
      MICROSOFT_CLIENT_SECRET: 'b',
      MICROSOFT_CLIENT_TENANT_ID: tenant,
    };
    expect(() => createOAuth(readEnv(env))).not.toThrow();
    const trusting = { ...env, OAUTH_TRUSTED_EMAIL_PROVIDERS: 'oidc,microsoft' };
    expect(() => createOAuth(readEnv(trusting))).toThrow(/OAUTH_TRUSTED_EMAIL_PROVIDERS is wrong/);
  },
);
