import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTarget, type Target } from '../egress/targets.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { openBrowser } from './browser.ts';

// GitHub itself cannot run here: this answers as its documentation of the Enterprise Server says.
let addresses: object[];
let account: object;
let github: Target;
let server: TestServer;

beforeAll(async () => {
  github = await startTarget(({ url, body, headers }, response) => {
    const asked = new URL(url, 'http://github.example');
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (asked.pathname === '/login/oauth/authorize') {
      const back = new URL(asked.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'a code');
      back.searchParams.set('state', asked.searchParams.get('state') ?? '');
      return response.writeHead(302, { location: back.href }).end();
    }
    if (asked.pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(body);
      const fits =
        form.get('code') === 'a code' && form.get('client_secret') === 'secret' && form.has('code_verifier');
      return fits
        ? json(200, { access_token: 'token', token_type: 'bearer', scope: '' })
        : json(400, { error: 'x' });
    }
    if (headers.authorization !== 'Bearer token') return json(401, {});
    return asked.pathname === '/api/v3/user' ? json(200, account) : json(200, addresses);
  });
  server = await startServer({
    env: {
      GITHUB_CLIENT_ID: 'id',
      GITHUB_CLIENT_SECRET: 'secret',
      GITHUB_SERVER_URL: `http://127.0.0.1:${github.port}`,
      ENABLE_OAUTH_SIGNUP: 'true',
      OAUTH_ALLOWED_DOMAINS: 'corp.example',
    },
  });
});
afterAll(async () => {
  await server.close();
  await github.close();
});

async function enter() {
  const browser = openBrowser();
  const { url } = await browser.visit(`${server.url}/oauth/github/login`, /\/auth(\?|$)/);
  const token = browser.cookie(server.url, 'token');
  const { body } = await server.call('GET /auths', { token });
  return { error: new URL(url).searchParams.get('error'), body };
}

it('takes the primary address, if it is verified, and the number of the account', async () => {
  account = { id: 7, login: 'ann', name: null };
  addresses = [
    { email: 'other@corp.example', primary: false, verified: true },
    { email: 'ann@corp.example', primary: true, verified: true },
  ];
  const first = await enter();
  expect(first).toMatchObject({
    error: null,
    body: { email: 'ann@corp.example', name: 'ann', role: 'admin' },
  });
  // A name there can be given up, and taken by somebody else.
  account = { id: 8, login: 'ann', name: 'Ann' };
  expect((await enter()).error).toMatch(/already has an account/);
  account = { id: 7, login: 'ann2', name: 'Ann' };
  expect((await enter()).body.id).toBe(first.body.id);
});

it('is refused with an address that is not verified, with none, and when the account cannot be read', async () => {
  account = { id: 9, login: 'eve', name: 'Eve' };
  addresses = [{ email: 'eve@corp.example', primary: true, verified: false }];
  expect((await enter()).error).toMatch(/has not verified/);
  addresses = [];
  expect((await enter()).error).toMatch(/does not tell your e-mail address/);
  account = { message: 'Server Error' };
  expect((await enter()).error).toMatch(/did not answer as expected/);
});
