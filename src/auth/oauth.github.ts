import * as client from 'openid-client';
import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { errorOfProvider } from './oauth.errors.ts';
import type { Provider } from './oauth.providers.ts';

const TIMEOUT_SECONDS = 10;

const Account = z.looseObject({
  id: z.int(),
  login: z.string(),
  name: z.string().nullish(),
  avatar_url: z.string().nullish(),
});
const Addresses = z.array(z.looseObject({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/** GitHub and its Enterprise Server: OAuth 2.0 without OpenID Connect, so who somebody is comes from its API. */
export function createGitHub(server: string, clientId: string, clientSecret: string): Provider {
  const api = server === 'https://github.com' ? 'https://api.github.com' : `${server}/api/v3`;
  const config = new client.Configuration(
    {
      issuer: server,
      authorization_endpoint: `${server}/login/oauth/authorize`,
      token_endpoint: `${server}/login/oauth/access_token`,
    },
    clientId,
    undefined,
    client.ClientSecretPost(clientSecret),
  );
  config.timeout = TIMEOUT_SECONDS;
  if (server.startsWith('http:')) client.allowInsecureRequests(config);

  async function read<T>(token: string, path: string, shape: z.ZodType<T>): Promise<T> {
    const headers = new Headers({ accept: 'application/vnd.github+json' });
    const url = new URL(`${api}${path}`);
    const response = await client.fetchProtectedResource(config, token, url, 'GET', undefined, headers);
    const parsed = shape.safeParse(await response.json().catch(() => null));
    if (!response.ok || !parsed.success) throw new AppError('upstream_failed', { cause: parsed.error });
    return parsed.data;
  }

  async function identify(callback: URL, { state, verifier }: Parameters<Provider['identify']>[1]) {
    const { access_token } = await client.authorizationCodeGrant(config, callback, {
      expectedState: state,
      pkceCodeVerifier: verifier,
    });
    const [account, addresses] = await Promise.all([
      read(access_token, '/user', Account),
      read(access_token, '/user/emails', Addresses),
    ]);
    const address = addresses.find(({ primary }) => primary);
    return {
      issuer: server,
      subject: String(account.id),
      sid: null,
      all: {
        ...account,
        name: account.name || account.login,
        picture: account.avatar_url,
        email: address?.email,
        email_verified: address?.verified,
      },
    };
  }

  return {
    id: 'github',
    name: 'GitHub',
    async authorize(redirect_uri, { state, verifier }) {
      return client.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: 'read:user user:email',
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },
    identify: (callback, proof) =>
      identify(callback, proof).catch((error: unknown) => {
        throw errorOfProvider(error);
      }),
  };
}
