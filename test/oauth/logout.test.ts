import { randomUUID } from 'node:crypto';
import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { CLIENT_ID } from './provider.ts';
import { claimsOf, setStage } from './stage.ts';

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

describe('a logout by the back channel', () => {
  beforeAll(async () => {
    await stage.enter('first', claimsOf('First'));
  });

  it('ends the one session that the provider names, and no other', async () => {
    const one = await stage.enter('ann', claimsOf('Ann'));
    const sid = stage.provider.sid();
    const two = await stage.enter('ann', claimsOf('Ann'));
    expect(sid).not.toBe(stage.provider.sid());
    await stage.provider.logOut('ann', sid);
    expect([await statusOf(one.token), await statusOf(two.token)]).toEqual([401, 200]);
  });

  it('ends all of a person when it names no session, and nobody else’s', async () => {
    const entries = [
      await stage.enter('bob', claimsOf('Bob')),
      await stage.enter('bob', claimsOf('Bob')),
      await stage.enter('b%', claimsOf('Bobby')),
    ];
    expect((await post({ logout_token: await stage.provider.sign(logoutOf('b%')) })).status).toBe(200);
    const statuses = () => Promise.all(entries.map(({ token }) => statusOf(token)));
    expect(await statuses()).toEqual([200, 200, 401]);
    const answer = await post({ logout_token: await stage.provider.sign(logoutOf('bob')) });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(await statuses()).toEqual([401, 401, 401]);
  });

  it.each<[string, JWTPayload]>([
    ['another audience', { aud: 'another client' }],
    ['another issuer', { iss: 'https://other.example' }],
    ['no event', { events: undefined }],
    ['another event', { events: { other: {} } }],
    ['a nonce, as an ID token has', { nonce: 'x' }],
    ['nobody', { sub: undefined }],
    ['no time', { iat: undefined }],
    ['a time long ago', { iat: now() - 3600 }],
    ['a time to come', { iat: now() + 3600 }],
    ['no life left', { exp: now() - 60 }],
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

  it('asks the provider once at most, however much garbage comes', async () => {
    const before = stage.provider.asked('/jwks');
    const garbage = Array.from({ length: 1000 }, async (_, number) => {
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

  it('wants a form with a token', async () => {
    expect((await post({})).status).toBe(400);
    expect((await post('logout_token')).status).toBe(400);
    expect((await post('{"logout_token":1}', 'application/json')).status).toBe(400);
    expect((await post('x', 'text/plain')).status).toBe(415);
    expect((await post({ logout_token: 'x'.repeat(70_000) })).status).toBe(413);
  });
});
