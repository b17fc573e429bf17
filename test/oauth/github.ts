import { startTarget, type Target } from '../egress/targets.ts';

export interface TestGitHub extends Target {
  /** The API's answer about the next user who signs in. */
  account: object;
  addresses: object[];
}

/**
 * Imitates GitHub and its Enterprise Server as documented: OAuth 2.0 without an ID token, and a REST API.
 * GitHub itself cannot run here.
 */
export async function startGitHub(): Promise<TestGitHub> {
  const target = await startTarget(({ url, body, headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://github.example');
    const json = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/login/oauth/authorize') {
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', 'a code');
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return response.writeHead(302, { location: back.href }).end();
    }
    if (pathname === '/login/oauth/access_token') {
      const form = new URLSearchParams(body);
      const fits =
        form.get('code') === 'a code' && form.get('client_secret') === 'secret' && form.has('code_verifier');
      return fits
        ? json(200, { access_token: 'token', token_type: 'bearer', scope: '' })
        : json(400, { error: 'x' });
    }
    if (headers.authorization !== 'Bearer token') return json(401, {});
    // The API of GitHub has a host of its own; that of a server has a path.
    const root = headers.host === 'api.github.com' ? '' : '/api/v3';
    if (pathname === `${root}/user`) return json(200, github.account);
    return pathname === `${root}/user/emails` ? json(200, github.addresses) : json(404, {});
  });
  const github: TestGitHub = { ...target, account: {}, addresses: [] };
  return github;
}
