import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { openAttempt, sealAttempt } from '../../src/auth/oauth/oauth.attempt.ts';
import { PROXY, signUp, startServer } from '../support/server.ts';
import { openBrowser } from './browser.ts';
import { CLIENT_ID, CLIENT_SECRET } from './provider.ts';
import { claimsOf, entryOf, loginOf, pageOf, setStage } from './stage.ts';

const stage = setStage();
const whoIs = async (token: string | undefined) => (await stage.server.call('GET /auths', { token })).body;

describe('a sign-in through an OpenID provider', () => {
  it('makes the first account an administrator, and finds it again', async () => {
    const first = await stage.enter('ann', claimsOf('Ann'));
    expect(first).toMatchObject({ error: null, visit: { url: `${stage.server.url}/auth` } });
    const ann = await whoIs(first.token);
    expect(ann).toMatchObject({ email: 'ann@example.com', name: 'Ann', role: 'admin' });

    const again = await stage.enter('ann', claimsOf('Ann'));
    expect(again.token).not.toBe(first.token);
    expect((await whoIs(again.token)).id).toBe(ann.id);
  });

  it('uses PKCE, state and nonce, and hides its cookies from scripts and other sites', async () => {
    const response = await fetch(loginOf(stage), { redirect: 'manual' });
    const asked = new URL(response.headers.get('location') ?? '').searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${stage.server.url}/oauth/oidc/callback`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(asked.get(name)).toMatch(/^[\w-]{43}$/);
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/; Max-Age=600; Path=\/oauth; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(asked.get('state'));
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('creates one account for concurrent first sign-ins of one user', async () => {
    const entries = await Promise.all(
      Array.from({ length: 12 }, () => stage.enter('multi', claimsOf('Multi'))),
    );
    const ids = await Promise.all(entries.map(async ({ token }) => (await whoIs(token)).id));
    expect(new Set(ids)).toEqual(new Set([expect.stringMatching(/^[0-9a-f-]{36}$/)]));
  });

  it('compares subjects exactly: wildcards and other cases are other users', async () => {
    const entries: { id: string; name: string }[] = [];
    for (const subject of ['a%', '%', '_', 'A%']) {
      const name = `Odd${entries.length}`;
      entries.push(await whoIs((await stage.enter(subject, claimsOf(name))).token));
    }
    expect(new Set(entries.map(({ id }) => id)).size).toBe(4);
    expect(entries.map(({ name }) => name)).toEqual(['Odd0', 'Odd1', 'Odd2', 'Odd3']);
  });

  it('is refused with the answer of another browser', async () => {
    stage.provider.signsIn('mallory', claimsOf('Mallory'));
    const { url } = await openBrowser().visit(loginOf(stage), /\/callback\?/);
    const victim = openBrowser();
    for (const prepare of [async () => {}, () => victim.visit(loginOf(stage), /\/callback\?/)]) {
      await prepare();
      const entry = entryOf(stage, victim, await victim.visit(`${url}`, pageOf(stage)));
      expect(entry.token).toBeUndefined();
      expect(entry.error).toMatch(/Begin again\.$/);
    }
  });

  it('is refused when a code or an attempt is used twice', async () => {
    stage.provider.signsIn('twice', claimsOf('Twice'));
    const browser = openBrowser();
    const { url } = await browser.visit(loginOf(stage), /\/callback\?/);
    const kept = browser.cookie(stage.server.url, 'oauth_attempt') ?? '';
    expect(kept).not.toBe('');
    expect(entryOf(stage, browser, await browser.visit(url, pageOf(stage))).token).toBeDefined();
    expect(browser.cookie(stage.server.url, 'oauth_attempt')).toBeUndefined();

    const thief = openBrowser();
    thief.setCookie(stage.server.url, 'oauth_attempt', kept);
    const replay = entryOf(stage, thief, await thief.visit(url, pageOf(stage)));
    expect(replay.token).toBeUndefined();
    expect(replay.error).toMatch(/did not succeed/);
  });

  it.each([
    ['another audience', { aud: 'another client' }],
    ['another issuer', { iss: 'https://other.example' }],
    ['another nonce', { nonce: 'x' }],
    ['an expiry in the past', { exp: 1 }],
    ['a start in the future', { nbf: Math.floor(Date.now() / 1000) + 3600 }],
    ['several audiences, made for another of them', { aud: [CLIENT_ID, 'other'], azp: 'other' }],
    ['no subject', { sub: undefined }],
  ])('is refused with a token of %s', async (_what, spoilt) => {
    stage.provider.spoil = (claims) => ({ ...claims, ...spoilt });
    try {
      const entry = await stage.enter('spoilt', claimsOf('Spoilt'));
      expect(entry.token).toBeUndefined();
      expect(entry.error).toMatch(/did not succeed/);
    } finally {
      stage.provider.spoil = undefined;
    }
  });

  it('is refused with a token that the provider did not sign', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const forgeries: ((claims: JWTPayload) => Promise<string>)[] = [
      async (claims) => `${part({ alg: 'none' })}.${part(claims)}.`,
      (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey),
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256' })
          .sign(new TextEncoder().encode(CLIENT_SECRET)),
    ];
    for (const forge of forgeries) {
      stage.provider.spoil = forge;
      const entry = await stage.enter('forged', claimsOf('Forged'));
      stage.provider.spoil = undefined;
      expect(entry.token).toBeUndefined();
      expect(entry.error).toMatch(/did not succeed|does not answer/);
    }
  });

  it('is refused when it began too long ago, or at another provider', async () => {
    const secret = await readFile(join(stage.server.dataDir, 'secret.key'), 'utf8');
    const change = async (changes: { expiresAt?: number; provider?: string }) => {
      stage.provider.signsIn('late', claimsOf('Late'));
      const browser = openBrowser();
      const { url } = await browser.visit(loginOf(stage), /\/callback\?/);
      const kept = openAttempt(secret, browser.cookie(stage.server.url, 'oauth_attempt') ?? '', 'oidc');
      if (!kept) throw new Error('The browser keeps no attempt.');
      browser.setCookie(stage.server.url, 'oauth_attempt', sealAttempt(secret, { ...kept, ...changes }));
      return entryOf(stage, browser, await browser.visit(url, pageOf(stage)));
    };
    for (const changes of [{ expiresAt: Date.now() - 1 }, { provider: 'github' }]) {
      const { token, error } = await change(changes);
      expect([token, error]).toEqual([undefined, expect.stringMatching(/begun elsewhere, or too long ago/)]);
    }
    expect((await change({ expiresAt: Date.now() + 1000_000 })).token).toBeDefined();
  });

  it('may fail thirty times from one network address, and then sends no more requests to the provider', async () => {
    const server = await startServer({ env: { ...stage.provider.env, ...PROXY.env } });
    const guess = async () => {
      const login = await fetch(`${server.url}/oauth/oidc/login`, { redirect: 'manual' });
      const state = new URL(login.headers.get('location') ?? '').searchParams.get('state');
      const [cookie = ''] = login.headers.getSetCookie();
      const callback = await fetch(`${server.url}/oauth/oidc/callback?code=guessed&state=${state}`, {
        redirect: 'manual',
        headers: { cookie: cookie.split(';')[0] ?? '', 'x-forwarded-for': '198.51.100.7', ...PROXY.headers },
      });
      return callback.status;
    };
    try {
      const statuses = [];
      for (let number = 0; number < 30; number += 1) statuses.push(await guess());
      const asked = stage.provider.asked('/token');
      expect([...new Set(statuses), await guess()]).toEqual([400, 429]);
      expect(stage.provider.asked('/token')).toBe(asked);
    } finally {
      await server.close();
    }
  });

  it('shows no text of the request, and redirects to no other site', async () => {
    const browser = openBrowser();
    await browser.visit(loginOf(stage), /\/interaction\//);
    const callback = `${stage.server.url}/oauth/oidc/callback`;
    const evil =
      '?error=access_denied&error_description=Call+0900&redirect=https://evil.example&next=//evil.example';
    const visit = await browser.visit(`${callback}${evil}`, pageOf(stage));
    expect(visit.url).toMatch(new RegExp(`^${stage.server.url}/auth\\?error=`));
    expect(visit.url).not.toMatch(/evil|0900/);
  });

  it('answers JSON to clients that do not ask for a page', async () => {
    const { url } = stage.server;
    const callback = await fetch(`${url}/oauth/oidc/callback?code=x&state=y`, { redirect: 'manual' });
    expect(callback.status).toBe(400);
    expect(await callback.json()).toMatchObject({ code: 'oauth_failed' });
    for (const path of ['/oauth/nobody/login', '/oauth/github/login', '/oauth/__proto__/callback']) {
      const response = await fetch(`${url}${path}`, { redirect: 'manual', headers: { accept: 'text/html' } });
      expect(response.status).toBe(404);
    }
  });

  it('does not take over an address with an account, unless that is configured', async () => {
    await signUp(stage.server, 'Owner');
    const entry = await stage.enter('taker', claimsOf('Owner'));
    expect(entry.token).toBeUndefined();
    expect(entry.error).toMatch(/already has an account/);
  });

  it.each([
    ['no address', { name: 'Bare' }, /does not tell your e-mail address/],
    ['an invalid address', { name: 'Bare', email: 'bare' }, /not valid/],
  ])('is refused with %s', async (_what, claims, expected) => {
    expect((await stage.enter('bare', claims)).error).toMatch(expected);
  });
});
