import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { startTarget } from '../egress/targets.ts';
import { PROXY, startServer } from '../support/server.ts';
import { OTHER_CLIENT_ID } from './provider.ts';
import { claimsOf, setStage } from './stage.ts';

const stage = setStage({ ENABLE_OAUTH_TOKEN_EXCHANGE: 'true' });
const exchange = (token: unknown, provider = 'oidc', at = stage.server) =>
  at.call(`POST /auths/oauth/${provider}/token/exchange`, { body: { token } });
const refusal = { status: 400, body: { code: 'oauth_failed' } };

let id: string;
beforeAll(async () => {
  const { token } = await stage.enter('ann', claimsOf('Ann'));
  id = (await stage.server.call('GET /auths', { token })).body.id;
});

describe('an access token of a provider', () => {
  it('gives a session of its user, without a cookie', async () => {
    const { status, body, headers } = await exchange(await stage.provider.issue('ann'));
    expect([status, body.id, headers.getSetCookie()]).toEqual([200, id, []]);
    expect((await stage.server.call('GET /auths', { token: body.token })).status).toBe(200);
    const { body: sessions } = await stage.server.call(`GET /users/${id}/oauth/sessions`, {
      token: body.token,
    });
    expect(sessions).toHaveLength(2);
    expect(sessions[0]).toMatchObject({ user_id: id, provider: stage.provider.issuer });
  });

  it('is refused when another program got it, although the provider accepts it', async () => {
    const token = await stage.provider.issue('ann', OTHER_CLIENT_ID);
    const good = await fetch(`${stage.provider.issuer}/me`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(await good.json()).toMatchObject({ sub: 'ann' });
    expect(await exchange(token)).toMatchObject(refusal);
  });

  it('is refused when the provider did not issue it as an access token', async () => {
    const now = Math.floor(Date.now() / 1000);
    const idToken = { iss: stage.provider.issuer, aud: 'parley', sub: 'ann', iat: now, exp: now + 60 };
    const { token: ours } = await stage.enter('ann', claimsOf('Ann'));
    for (const token of ['x', randomUUID(), await stage.provider.sign(idToken), ours, 'a b\tc']) {
      expect(await exchange(token)).toMatchObject(refusal);
    }
  });

  it('creates no account', async () => {
    stage.provider.signsIn('new', claimsOf('New'));
    const { status, body } = await exchange(await stage.provider.issue('new'));
    expect([status, body.code, body.detail]).toEqual([
      403,
      'forbidden',
      expect.stringMatching(/no account here yet/),
    ]);
    expect(await stage.server.database.query("select from users where email like 'new%'")).toEqual([]);
  });

  it.each([[undefined], [''], [1], [['x']], ['x'.repeat(8193)], ['a\0b']])(
    'is refused when it is %o',
    async (token) => {
      expect(await exchange(token)).toMatchObject({ status: 400, body: { code: 'validation' } });
    },
  );

  it('is refused for an unknown provider, and where the exchange is off', async () => {
    expect((await exchange('x', 'nobody')).status).toBe(404);
    expect((await exchange('x', '__proto__')).status).toBe(404);
    const off = await startServer({ env: stage.provider.env });
    try {
      const answer = await exchange(await stage.provider.issue('ann'), 'oidc', off);
      expect(answer).toMatchObject({ status: 403, body: { code: 'signin_disabled' } });
    } finally {
      await off.close();
    }
  });

  it('may be guessed thirty times from one network address', async () => {
    const behind = await startServer({
      env: { ...stage.provider.env, ENABLE_OAUTH_TOKEN_EXCHANGE: 'true', ...PROXY.env },
    });
    try {
      const guess = () =>
        behind.call('POST /auths/oauth/oidc/token/exchange', {
          headers: { ...PROXY.headers, 'x-forwarded-for': '198.51.100.7' },
          body: { token: randomUUID() },
        });
      const statuses = (await Promise.all(Array.from({ length: 40 }, guess))).map(({ status }) => status);
      expect(statuses.filter((status) => status === 400)).toHaveLength(30);
      expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    } finally {
      await behind.close();
    }
  });
});

describe('a token of GitHub', () => {
  it('is checked for this client, and gives a session of its user', async () => {
    const github = await startTarget(({ url, body, headers }, response) => {
      const json = (status: number, value: unknown) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      if (url === '/api/v3/applications/id/token') {
        const isClient = headers.authorization === `Basic ${Buffer.from('id:secret').toString('base64')}`;
        const token = JSON.parse(body).access_token;
        if (token === 'too many') return json(403, {});
        const isOurs = token === 'ours';
        return isClient && isOurs ? json(200, { app: { client_id: 'id' } }) : json(404, {});
      }
      // Both are valid tokens of the same user.
      if (!/^Bearer (ours|theirs)$/.test(headers.authorization ?? '')) return json(401, {});
      if (url === '/api/v3/user') return json(200, { id: 7, login: 'ann', name: 'Ann' });
      return json(200, [{ email: 'ann@example.com', primary: true, verified: true }]);
    });
    const server = await startServer({
      env: {
        ENABLE_OAUTH_TOKEN_EXCHANGE: 'true',
        OAUTH_MERGE_ACCOUNTS_BY_EMAIL: 'true',
        GITHUB_CLIENT_ID: 'id',
        GITHUB_CLIENT_SECRET: 'secret',
        GITHUB_SERVER_URL: `http://127.0.0.1:${github.port}`,
      },
    });
    try {
      const body = { email: 'ann@example.com', name: 'Ann', password: 'a password of hers' };
      const ann = await server.call('POST /auths/signup', { body });
      expect((await exchange('ours', 'github', server)).body.id).toBe(ann.body.id);
      for (const token of ['theirs', 'nonsense', 'ours ']) {
        expect(await exchange(token, 'github', server)).toMatchObject(refusal);
      }
      // A rate limit of GitHub says nothing about the token.
      expect(await exchange('too many', 'github', server)).toMatchObject({
        status: 502,
        body: { code: 'upstream_failed' },
      });
    } finally {
      await server.close();
      await github.close();
    }
  });
});
