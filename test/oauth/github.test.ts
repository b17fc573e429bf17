import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { openBrowser } from './browser.ts';
import { startGitHub, type TestGitHub } from './github.ts';

let github: TestGitHub;
let server: TestServer;

beforeAll(async () => {
  github = await startGitHub();
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

it('uses the primary address, if it is verified, and the number of the account', async () => {
  github.account = { id: 7, login: 'ann', name: null };
  github.addresses = [
    { email: 'other@corp.example', primary: false, verified: true },
    { email: 'ann@corp.example', primary: true, verified: true },
  ];
  const first = await enter();
  expect(first).toMatchObject({
    error: null,
    body: { email: 'ann@corp.example', name: 'ann', role: 'admin' },
  });
  // A user name of GitHub can be given up and taken by another user.
  github.account = { id: 8, login: 'ann', name: 'Ann' };
  expect((await enter()).error).toMatch(/already has an account/);
  github.account = { id: 7, login: 'ann2', name: 'Ann' };
  expect((await enter()).body.id).toBe(first.body.id);
});

it('is refused without a verified address, and when the account cannot be read', async () => {
  github.account = { id: 9, login: 'eve', name: 'Eve' };
  github.addresses = [{ email: 'eve@corp.example', primary: true, verified: false }];
  expect((await enter()).error).toMatch(/has not verified/);
  github.addresses = [];
  expect((await enter()).error).toMatch(/does not tell your e-mail address/);
  github.account = { message: 'Server Error' };
  expect((await enter()).error).toMatch(/did not answer as expected/);
});
