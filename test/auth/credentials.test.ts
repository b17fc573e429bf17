import { createHmac } from 'node:crypto';
import { SignJWT } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { deriveKey } from '../../src/core/secrets/keys.ts';
import { until } from '../support/poll.ts';
import { claimsOf, PASSWORD, signUp, startServer } from '../support/server.ts';

const SECRET = 'a secret of the tests that is long enough';
const key = deriveKey(SECRET, 'session-jwt');

const server = await startServer({ env: { SECRET_KEY: SECRET } });
afterAll(() => server.close());
const ada = await signUp(server, 'Ada');
const claims = claimsOf(ada.token);

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const signed = (payload: object, secret = key, alg = 'HS256') =>
  new SignJWT({ ...payload }).setProtectedHeader({ alg }).sign(secret);
const whoAmI = (token: string) => server.call('GET /auths', { token });

describe('a token', () => {
  it('is accepted as issued, and when it is signed again with the same key', async () => {
    expect((await whoAmI(ada.token)).status).toBe(200);
    expect((await whoAmI(await signed(claims))).status).toBe(200);
  });

  it.each<[string, () => string | Promise<string>]>([
    ['no token at all', () => 'nonsense'],
    ['an unknown API key', () => 'sk-0123456789abcdef'],
    ['unsigned', () => `${encode({ alg: 'none' })}.${encode(claims)}.`],
    ['unsigned, with a signature', () => `${encode({ alg: 'none' })}.${encode(claims)}.AAAA`],
    ['signed with another key', () => signed(claims, deriveKey('another secret', 'session-jwt'))],
    ['signed with the secret itself', () => signed(claims, Buffer.from(SECRET))],
    ['signed with the key for another purpose', () => signed(claims, deriveKey(SECRET, 'fingerprint'))],
    ['signed with another algorithm', () => signed(claims, key, 'HS512')],
    ['for another audience', () => signed({ ...claims, aud: 'parley:download' })],
    ['without an audience', () => signed({ ...claims, aud: undefined })],
    ['without a session', () => signed({ ...claims, jti: undefined })],
    ['of an unknown session', () => signed({ ...claims, jti: crypto.randomUUID() })],
    ['of a session id that is no text', () => signed({ ...claims, jti: 7 as unknown as string })],
    ['without a user', () => signed({ ...claims, id: undefined })],
    ['of another user than the session', () => signed({ ...claims, id: crypto.randomUUID() })],
    ['not valid yet', () => signed({ ...claims, nbf: claims.exp - 1 })],
    ['expired', () => signed({ ...claims, exp: Math.floor(Date.now() / 1000) - 1 })],
    ['signed for another payload', () => {
      const [header, , signature] = ada.token.split('.');
      return `${header}.${encode({ ...claims, exp: claims.exp + 1 })}.${signature}`;
    }],
    ['changed in its signature', () => `${ada.token.slice(0, -4)}AAAA`],
    ['signed with a header that names a critical extension', () => {
      const body = `${encode({ alg: 'HS256', crit: ['b64'], b64: false })}.${encode(claims)}`;
      return `${body}.${createHmac('sha256', key).update(body).digest('base64url')}`;
    }],
  ])('is refused when it is %s', async (_what, make) => {
    const { status, body, headers } = await whoAmI(await make());
    expect([status, body.code]).toEqual([401, 'unauthenticated']);
    expect(headers.get('www-authenticate')).toBe('Bearer');
  }); // biome-ignore format: one case a line

  it('ends after the configured lifetime, also when it is cached', async () => {
    const { body: configuration } = await server.call('GET /configs/export', { token: ada.token });
    const importing = (jwt_expiry: string) =>
      server.call('POST /configs/import', {
        token: ada.token,
        body: { ...configuration, auth: { ...configuration.auth, jwt_expiry } },
      });
    expect((await importing('1h')).status).toBe(200);
    const before = Math.floor(Date.now() / 1000);
    const short = await server.call('POST /auths/signin', { body: { email: ada.email, password: PASSWORD } });
    expect(short.body.expires_at).toBeGreaterThanOrEqual(before + 3600);
    expect(short.body.expires_at).toBeLessThanOrEqual(Date.now() / 1000 + 3601);
    const said = claimsOf(short.body.token);
    expect(said.exp).toBe(short.body.expires_at);
    // A token of the same session that expires soon. If it expires before the server accepts it, try twice
    // the time.
    const endingIn = async (seconds: number): Promise<string> => {
      const token = await signed({ ...said, exp: Math.floor(Date.now() / 1000) + seconds });
      return (await whoAmI(token)).status === 200 ? token : endingIn(seconds * 2);
    };
    const ending = await endingIn(1);
    await until('the token to expire', async () => (await whoAmI(ending)).status === 401);

    expect((await importing('-1')).status).toBe(200);
    const endless = await server.call('POST /auths/signin', {
      body: { email: ada.email, password: PASSWORD },
    });
    expect(endless.body.expires_at).toBeNull();
    expect(claimsOf(endless.body.token)).not.toHaveProperty('exp');
    expect((await whoAmI(endless.body.token)).status).toBe(200);
    await importing('4w');
  });

  it('is read from Authorization in any case, from x-api-key, and from the cookie, in this order', async () => {
    const good = ada.token;
    const ask = async (headers: Record<string, string>) =>
      (await server.call('GET /auths', { headers })).status;
    expect(await ask({ authorization: `bearer ${good}` })).toBe(200);
    expect(await ask({ 'x-api-key': good })).toBe(200);
    expect(await ask({ cookie: `a=b; token=${good}; c=d` })).toBe(200);
    expect(await ask({ authorization: 'Bearer wrong', cookie: `token=${good}` })).toBe(401);
    expect(await ask({ 'x-api-key': 'wrong', cookie: `token=${good}` })).toBe(401);
    expect(await ask({ authorization: 'Basic YTpi', cookie: `token=${good}` })).toBe(200);
    expect(await ask({})).toBe(401);
  });

  it('is not read from the address of a request', async () => {
    expect((await server.call(`GET /auths?token=${ada.token}`)).status).toBe(401);
  });
});

describe('the cookie', () => {
  const cookie = () => ({ cookie: `token=${ada.token}` });
  const create = (headers: Record<string, string>) =>
    server.call('POST /channels/create', { headers, body: { name: 'by cookie' } });

  it('cannot be used by scripts and other sites, and ends with the token', async () => {
    const { headers, body } = await server.call('POST /auths/signin', {
      body: { email: ada.email, password: PASSWORD },
    });
    const set = headers.get('set-cookie') ?? '';
    expect(set).toContain(`token=${body.token}`);
    expect(set).toMatch(/; HttpOnly/i);
    expect(set).toMatch(/; SameSite=Lax/i);
    expect(set).toMatch(/; Path=\/(;|$)/i);
    expect(set).not.toMatch(/; Domain/i);
    expect(set).not.toMatch(/; Secure/i);
    expect(Date.parse(/Expires=([^;]+)/.exec(set)?.[1] ?? '')).toBe(body.expires_at * 1000);
  });

  it('is restricted to https when the server is reached by https', async () => {
    const { headers } = await server.call('POST /auths/signup', {
      headers: { 'x-forwarded-proto': 'https' },
      body: { email: 'https@example.com', name: 'Https', password: PASSWORD },
    });
    expect(headers.get('set-cookie')).toMatch(/; Secure/i);
  });

  it('is enough for reading', async () => {
    expect((await server.call('GET /channels', { headers: cookie() })).status).toBe(200);
  });

  it.each<[string, () => Record<string, string>]>([
    ['without an origin', () => ({})],
    ['from another origin', () => ({ origin: 'https://evil.example' })],
    ['from an origin that begins like ours', () => ({ origin: `${server.url}.evil.example` })],
    ['from a null origin', () => ({ origin: 'null' })],
    ['from another origin of the same site', () => ({ 'sec-fetch-site': 'same-site' })],
  ])('alone changes nothing %s', async (_what, headers) => {
    const { status, body } = await create({ ...cookie(), ...headers() });
    expect([status, body.code]).toEqual([403, 'origin_forbidden']);
  });

  it('may change data from our own origin, or beside a token that browsers do not add', async () => {
    expect((await create({ ...cookie(), origin: server.url })).status).toBe(200);
    expect((await create({ ...cookie(), 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    expect((await create({ ...cookie(), authorization: `Bearer ${ada.token}` })).status).toBe(200);
  });

  it('signs out by POST from our own origin, and never by GET', async () => {
    const person = await signUp(server, 'Cookie');
    const own = { cookie: `token=${person.token}` };
    const byGet = await server.call('GET /auths/signout', { headers: { ...own, origin: server.url } });
    expect([byGet.status, byGet.body.code]).toEqual([403, 'origin_forbidden']);
    expect((await server.call('POST /auths/signout', { headers: own })).status).toBe(403);
    expect((await whoAmI(person.token)).status).toBe(200);

    const out = await server.call('POST /auths/signout', { headers: { ...own, origin: server.url } });
    expect([out.status, out.body]).toEqual([200, { status: true }]);
    expect(out.headers.get('set-cookie')).toMatch(/^token=;.*Expires=Thu, 01 Jan 1970/);
    expect((await whoAmI(person.token)).status).toBe(401);
  });

  it('changes nothing over tRPC from another site', async () => {
    const response = await fetch(`${server.url}/trpc/channels.create`, {
      method: 'POST',
      headers: { ...cookie(), 'content-type': 'application/json', origin: 'https://evil.example' },
      body: JSON.stringify({ name: 'x' }),
    });
    expect(response.status).toBe(403);
  });
});
