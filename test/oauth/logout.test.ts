import { randomUUID } from 'node:crypto';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { startTarget } from '../egress/targets.ts';
import { until } from '../support/poll.ts';
import { signUp, startServer } from '../support/server.ts';
import { recordStatements } from '../support/statements.ts';
import { openBrowser } from './browser.ts';
import { startInternet, withoutOpenssl } from './internet.ts';
import { CLIENT_ID, CLIENT_SECRET } from './provider.ts';
import { claimsOf, entryOf, loginOf, pageOf, setStage } from './stage.ts';

const stage = setStage();
const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

const post = (form: Record<string, string> | string, type = 'application/x-www-form-urlencoded') =>
  fetch(`${stage.server.url}/oauth/backchannel-logout`, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  });
const statusOf = async (token: string | undefined) =>
  (await stage.server.call('GET /auths', { token })).status;

const now = () => Math.floor(Date.now() / 1000);
const logoutOf = (subject: string, change: JWTPayload = {}): JWTPayload => ({
  iss: stage.provider.issuer,
  aud: CLIENT_ID,
  iat: now(),
  exp: now() + 60,
  jti: randomUUID(),
  sub: subject,
  events: { [EVENT]: {} },
  ...change,
});

describe('a back-channel logout', () => {
  beforeAll(async () => {
    await stage.enter('first', claimsOf('First'));
  });

  it('ends only the session that the provider names', async () => {
    const one = await stage.enter('ann', claimsOf('Ann'));
    const sid = stage.provider.sid();
    const two = await stage.enter('ann', claimsOf('Ann'));
    expect(sid).not.toBe(stage.provider.sid());
    await stage.provider.logOut('ann', sid);
    expect([await statusOf(one.token), await statusOf(two.token)]).toEqual([401, 200]);
    const [entry] = await stage.server.database.query(
      `select actor_id, ip, before from audit_entry where action = 'session.end'`,
    );
    expect(entry).toEqual({
      actor_id: null,
      ip: '127.0.0.1',
      before: { user_id: expect.any(String), provider: stage.provider.issuer },
    });
  });

  it('ends all sessions of a user when it names none, and no others', async () => {
    const entries = [
      await stage.enter('bob', claimsOf('Bob')),
      await stage.enter('bob', claimsOf('Bob')),
      await stage.enter('b%', claimsOf('Bobby')),
    ];
    expect((await post({ logout_token: await stage.provider.sign(logoutOf('b%')) })).status).toBe(200);
    const statuses = () => Promise.all(entries.map(({ token }) => statusOf(token)));
    expect(await statuses()).toEqual([200, 200, 401]);
    const logout_token = await stage.provider.sign(logoutOf('bob'));
    const statements = await recordStatements(async () => {
      const answer = await post({ logout_token });
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    });
    // One statement for any number of sessions.
    expect(statements.filter((text) => text.includes('insert into audit_entry'))).toHaveLength(1);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  it.each<[string, JWTPayload]>([
    ['another audience', { aud: 'another client' }],
    ['another issuer', { iss: 'https://other.example' }],
    ['no event', { events: undefined }],
    ['another event', { events: { other: {} } }],
    ['a nonce, as an ID token has', { nonce: 'x' }],
    ['no subject', { sub: undefined }],
    ['no issue time', { iat: undefined }],
    ['an old issue time', { iat: now() - 3600 }],
    ['an issue time in the future', { iat: now() + 3600 }],
    ['an expiry in the past', { exp: now() - 60 }],
    ['no id', { jti: undefined }],
  ])('is refused with a token of %s', async (_what, change) => {
    const { token } = await stage.enter('carl', claimsOf('Carl'));
    const answer = await post({ logout_token: await stage.provider.sign(logoutOf('carl', change)) });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([400, 'oauth_failed']);
    expect(await statusOf(token)).toBe(200);
  });

  it('is refused with a token that the provider did not sign', async () => {
    const { token } = await stage.enter('dora', claimsOf('Dora'));
    const { privateKey } = await generateKeyPair('RS256');
    const claims = logoutOf('dora');
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const shared = new TextEncoder().encode('a secret of the client');
    const forged = [
      await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey),
      await new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(shared),
      `${part({ alg: 'none' })}.${part(claims)}.`,
    ];
    for (const logout_token of forged) expect((await post({ logout_token })).status).toBe(400);
    expect(await statusOf(token)).toBe(200);
  });

  it('asks the provider once at most for any number of bad tokens', async () => {
    const before = stage.provider.asked('/jwks');
    const garbage = Array.from({ length: 200 }, async (_, number) => {
      const claims = logoutOf(`nobody ${number}`);
      if (number % 2 === 0) return stage.provider.sign(claims, `key ${number}`);
      return number % 3 === 0 ? 'no.token.at-all' : randomUUID();
    });
    const statuses = new Set<number>();
    for (const token of garbage) statuses.add((await post({ logout_token: await token })).status);
    expect(statuses).toEqual(new Set([400]));
    expect(stage.provider.asked('/jwks') - before).toBeLessThanOrEqual(1);
    expect(stage.provider.asked('/.well-known/openid-configuration')).toBe(1);
  });

  it('requires a form with a token', async () => {
    expect((await post({})).status).toBe(400);
    expect((await post('logout_token')).status).toBe(400);
    expect((await post('{"logout_token":1}', 'application/json')).status).toBe(400);
    expect((await post('x', 'text/plain')).status).toBe(415);
    expect((await post({ logout_token: 'x'.repeat(70_000) })).status).toBe(413);
  });
});

describe('a sign-out here', () => {
  const signOut = (token: string | undefined, at = stage.server) => at.call('POST /auths/signout', { token });

  it('names the logout address of the provider for a session that began there', async () => {
    const { token, browser } = await stage.enter('emma', claimsOf('Emma'));
    const { body } = await signOut(token);
    expect(body).toEqual({
      status: true,
      redirect_url: `${stage.provider.issuer}/session/end?client_id=${CLIENT_ID}`,
    });
    expect(await statusOf(token)).toBe(401);
    expect((await browser.visit(body.redirect_url)).status).toBe(200);
    const person = await signUp(stage.server, 'Plain');
    expect((await signOut(person.token)).body).toEqual({ status: true });
  });

  it('sends the browser back only to the configured address', async () => {
    const server = await startServer({
      env: { ...stage.provider.env, ENABLE_OAUTH_SIGNUP: 'true', WEBUI_URL: 'https://chat.example/' },
    });
    try {
      const { token } = await signUp(server, 'Finn');
      // From now on the provider's metadata is known; a sign-out waits only briefly for it.
      expect((await fetch(loginOf({ server }), { redirect: 'manual' })).status).toBe(302);
      const session = await server.database.query<{ id: string }>('select id from session');
      await server.database.query(
        `insert into provider_session (session_id, issuer, subject) values ($1, $2, 'finn')`,
        [session[0]?.id, stage.provider.issuer],
      );
      const { body } = await signOut(token, server);
      const asked = new URL(body.redirect_url).searchParams;
      expect(asked.get('post_logout_redirect_uri')).toBe('https://chat.example/auth');
      // The provider accepts the address; otherwise it answers 400.
      expect((await openBrowser().visit(body.redirect_url)).status).toBe(200);
    } finally {
      await server.close();
    }
  });

  it('neither waits for an unreachable provider nor fails with it', async () => {
    const away = await startTarget(() => {});
    const server = await startServer({
      env: { OPENID_PROVIDER_URL: `http://127.0.0.1:${away.port}`, OAUTH_CLIENT_ID: CLIENT_ID },
    });
    try {
      const { token } = await signUp(server, 'Gil');
      await server.database.query(
        `insert into provider_session (session_id, issuer, subject) select id, $1, 'gil' from session`,
        [`http://127.0.0.1:${away.port}`],
      );
      expect((await signOut(token, server)).body).toEqual({ status: true });
      expect((await server.call('GET /auths', { token })).status).toBe(401);
    } finally {
      await server.close();
      await away.close();
    }
  });

  it.skipIf(withoutOpenssl)('does not wait for another, unreachable provider (needs openssl)', async () => {
    const away = await startTarget(() => {});
    const internet = await startInternet({ 'accounts.google.com': away.port });
    const google = { GOOGLE_CLIENT_ID: CLIENT_ID, GOOGLE_CLIENT_SECRET: CLIENT_SECRET };
    const server = await startServer({
      env: { ...stage.provider.env, ...google, ENABLE_OAUTH_SIGNUP: 'true' },
    });
    try {
      const browser = openBrowser();
      stage.provider.signsIn('hal', claimsOf('Hal'));
      const there = { ...stage, server };
      const { token } = entryOf(there, browser, await browser.visit(loginOf(there), pageOf(there)));
      expect((await signOut(token, server)).body.redirect_url).toContain(stage.provider.issuer);
      // It got the request, and has not answered yet.
      await until('the other to be asked', () => away.heard.length > 0);
    } finally {
      await server.close();
      await internet.close();
      await away.close();
    }
  });
});

describe('the sessions of an account at providers', () => {
  it('are shown to administrators, without tokens', async () => {
    const admin = await stage.enter('first', claimsOf('First'));
    const { token } = await stage.enter('hugo', claimsOf('Hugo'));
    const { id } = (await stage.server.call('GET /auths', { token })).body;
    const list = (as: string | undefined) =>
      stage.server.call(`GET /users/${id}/oauth/sessions`, { token: as });
    expect((await list(undefined)).status).toBe(401);
    expect((await list(token)).status).toBe(401);
    const { body } = await list(admin.token);
    expect(body).toEqual([
      {
        id: expect.any(String),
        user_id: id,
        provider: stage.provider.issuer,
        expires_at: expect.any(Number),
        created_at: expect.any(Number),
        updated_at: expect.any(Number),
      },
    ]);
  });
});
