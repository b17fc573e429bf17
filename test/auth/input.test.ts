import { afterAll, describe, expect, it } from 'vitest';
import { PASSWORD, signUp, startServer } from '../support/server.ts';

const server = await startServer({ env: { ENABLE_API_KEYS: 'true' } });
afterAll(() => server.close());
const ada = await signUp(server, 'Ada');

const register = (email: string) =>
  server.call('POST /auths/signup', { body: { email, name: 'Somebody', password: PASSWORD } });
const attempt = (email: string, password = PASSWORD) =>
  server.call('POST /auths/signin', { body: { email, password } });

describe('an address that looks like another', () => {
  it.each([
    ['full-width letters in the domain', 'ada@ｅｘａｍｐｌｅ.com'],
    ['an ideographic full stop', 'ada@example。com'],
    ['a letter of another form', 'ada@ℯxample.com'],
    ['the domain in capitals', 'ada@EXAMPLE.COM'],
  ])('is the same account with %s', async (_what, email) => {
    const { status, body } = await register(email);
    expect([status, body.code]).toEqual([400, 'email_taken']);
    expect((await attempt(email)).body.id).toBe(ada.id);
  });

  it('is one account in both forms of an international domain', async () => {
    const { body } = await register('ida@bücher.example');
    expect(body.email).toBe('ida@bücher.example');
    expect((await register('ida@xn--bcher-kva.example')).body.code).toBe('email_taken');
    expect((await attempt('IDA@XN--BCHER-KVA.example')).body.id).toBe(body.id);
  });

  it.each([
    ['Cyrillic letters', 'аda@example.com'],
    ['a dotless i', 'adaı@example.com'],
    ['SQL wildcards', '%@example.com'],
    ['a wildcard for a letter', '_da@example.com'],
  ])('is another account with %s', async (_what, email) => {
    expect((await attempt(email)).body.code).toBe('credentials_wrong');
    const { status, body } = await register(email);
    expect([status, body.role, body.email]).toEqual([200, 'pending', email]);
    expect(body.id).not.toBe(ada.id);
  });

  it.each([
    ['a zero-width letter', 'a\u200bda@example.com'],
    ['a soft hyphen in the domain', 'ada@exam\u00adple.com'],
    ['a change of the writing direction', 'ada\u202e@example.com'],
    ['a byte order mark', '\ufeffada\ufeff.x@exam\ufeffple.com'],
    ['a line break', 'ada@exam\nple.com'],
    ['a mail header', 'ada@example.com\r\nBcc: all@example.com'],
    ['two addresses', 'ada@example.com,eve@example.com'],
    ['a tab in the domain', 'ada@exam\tple.com'],
    ['a private-use character', 'ada\ue000@example.com'],
  ])('is refused with %s', async (_what, email) => {
    const { status, body } = await register(email);
    expect([status, body.code]).toEqual([400, 'email_invalid']);
    expect((await attempt(email)).body.code).toBe('credentials_wrong');
  });
});

describe('a name', () => {
  it.each([
    ['a line break', 'Ada\r\nSet-Cookie: a=b'],
    ['a line separator', 'Ada\u2028Root'],
    ['a change of the writing direction', 'Ada \u202etooR'],
    ['white space only', ' \u3000\t'],
    // Normalizing this pile would take an hour.
    ['a pile of combining marks', `a${'\u0301\u0316'.repeat(500_000)}`],
  ])('is refused with %s at every procedure', async (_what, name) => {
    const account = { email: `${crypto.randomUUID()}@example.com`, name, password: PASSWORD };
    const { token } = ada;
    // Callers without credentials may send 16 KiB, so the pile is cut to fit; it is still too long for a
    // name.
    const first = { ...account, name: name.slice(0, 7_800) };
    const answers = [
      await server.call('POST /auths/signup', { body: first }),
      await server.call('POST /auths/add', { token, body: account }),
      await server.call('POST /users', { token, body: account }),
      await server.call(`POST /users/${ada.id}/update`, { token, body: { name } }),
      await server.call('POST /auths/update/profile', { token, body: { name, profile_image_url: '' } }),
    ];
    expect(answers.map(({ body }) => body.code)).toEqual(Array(5).fill('validation'));
  });

  it('is stored in one normal form, without white space around it', async () => {
    const email = 'zoe@example.com';
    const { body } = await server.call('POST /auths/add', {
      token: ada.token,
      body: { email, name: '  Zoe\u0301 ', password: PASSWORD, id: ada.id, created_at: 1, token: 'x' },
    });
    expect(body).toMatchObject({ name: 'Zo\u00e9', email, role: 'pending' });
    expect(body.id).not.toBe(ada.id);
    // Clients of comparable systems require these members of a token.
    expect(body).toMatchObject({ token: '', token_type: 'Bearer' });
  });
});

describe('additional input', () => {
  it('does not decide who the caller is', async () => {
    const { body, headers } = await server.call('POST /auths/signin', {
      body: {
        email: ada.email,
        password: 'wrong',
        id: ada.id,
        role: 'admin',
        token: ada.token,
        is_admin: true,
      },
    });
    expect(body.code).toBe('credentials_wrong');
    expect(headers.get('x-ignored-members')).toContain('role');
  });

  it('does not choose the id of a session or the text of a key', async () => {
    const id = crypto.randomUUID();
    const { body } = await server.call('POST /auths/api_keys', {
      token: ada.token,
      body: { name: 'mine', id, api_key: 'sk-chosen', hash: 'chosen', tail: 'chos', user_id: id },
    });
    expect(body.id).not.toBe(id);
    expect((await server.call('GET /auths', { token: 'sk-chosen' })).status).toBe(401);
  });

  it.each([
    ['a long user agent', { 'user-agent': 'x'.repeat(5000) }],
    [
      'another address',
      { 'x-forwarded-for': '203.0.113.7', forwarded: 'for=203.0.113.7', 'x-real-ip': '203.0.113.7' },
    ],
    ['an invalid device cookie', { cookie: `device=${'x'.repeat(5000)}; token=; device=%00` }],
    ['letters beyond ASCII', { 'user-agent': 'caf\u00e9' }],
  ])('in the headers of a sign-in does no harm: %s', async (_what, headers) => {
    const { status, body } = await server.call('POST /auths/signup', {
      headers,
      body: { email: `${crypto.randomUUID()}@example.com`, name: 'Header', password: PASSWORD },
    });
    expect(status).toBe(200);
    const [session] = (await server.call('GET /auths/sessions', { token: body.token })).body;
    expect(session.ip).toBe('127.0.0.1');
    expect(session.user_agent.length).toBeLessThanOrEqual(256);
  });
});

describe('a malformed token', () => {
  it.each([
    ['two tokens in one header', () => `${ada.token} ${ada.token}`],
    ['white space in the token', () => ada.token.replace('.', '. ')],
    ['an end of line', () => `${ada.token}%0d%0a`],
    ['a token behind the prefix of a key', () => `sk-${ada.token}`],
    ['a very long key', () => `sk-${'0'.repeat(10_000)}`],
  ])('is refused: %s', async (_what, make) => {
    const { status } = await server.call('GET /auths', { headers: { authorization: `Bearer ${make()}` } });
    expect(status).toBe(401);
  });

  it('is not read from two headers with one name', async () => {
    const headers = new Headers({ authorization: 'Bearer x' });
    headers.append('authorization', `Bearer ${ada.token}`);
    const response = await fetch(`${server.url}/api/v1/auths`, { headers });
    expect(response.status).toBe(401);
  });
});
