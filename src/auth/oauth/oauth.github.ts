import * as client from 'openid-client';
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { errorOfProvider } from './oauth.errors.ts';
import type { Provider } from './oauth.provider.ts';

const TIMEOUT_SECONDS = 10;

const Account = z.looseObject({
  id: z.int(),
  login: z.string(),
  name: z.string().nullish(),
  avatar_url: z.string().nullish(),
});
const Addresses = z.array(z.looseObject({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));

/**
 * GitHub and GitHub Enterprise Server: OAuth 2.0 without OpenID Connect, so the user's data comes from the
 * API.
 */
export function createGitHub(server: string, clientId: string, clientSecret: string): Provider {
  const api = new GitHubApi(server, clientId, clientSecret);
  return {
    id: 'github',
    name: 'GitHub',
    async authorize(redirect_uri, { state, verifier }) {
      return client.buildAuthorizationUrl(api.config, {
        redirect_uri,
        scope: 'read:user user:email',
        state,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },
    identify: (callback, { state, verifier }) =>
      client
        .authorizationCodeGrant(api.config, callback, { expectedState: state, pkceCodeVerifier: verifier })
        .then(({ access_token }) => api.identify(access_token))
        .catch(rethrow),
    async exchange(token) {
      if (!(await api.isOurs(token).catch(rethrow))) {
        throw new AppError('oauth_failed', { detail: 'That token is not valid, or is for another program.' });
      }
      return api.identify(token).catch(rethrow);
    },
  };
}

const rethrow = (error: unknown) => {
  throw errorOfProvider(error);
};

/** The calls to the API of a GitHub server, as one registered client. */
class GitHubApi {
  readonly config: client.Configuration;
  readonly #server: string;
  readonly #url: string;
  readonly #clientId: string;
  readonly #clientSecret: string;

  constructor(server: string, clientId: string, clientSecret: string) {
    this.#server = server;
    this.#url = server === 'https://github.com' ? 'https://api.github.com' : `${server}/api/v3`;
    this.#clientId = clientId;
    this.#clientSecret = clientSecret;
    this.config = new client.Configuration(
      {
        issuer: server,
        authorization_endpoint: `${server}/login/oauth/authorize`,
        token_endpoint: `${server}/login/oauth/access_token`,
      },
      clientId,
      undefined,
      client.ClientSecretPost(clientSecret),
    );
    this.config.timeout = TIMEOUT_SECONDS;
    if (server.startsWith('http:')) client.allowInsecureRequests(this.config);
  }

  /** The account of a token, with its addresses. */
  async identify(token: string) {
    const [account, addresses] = await Promise.all([
      this.#read(token, '/user', Account),
      this.#read(token, '/user/emails', Addresses),
    ]);
    const address = addresses.find(({ primary }) => primary);
    return {
      issuer: this.#server,
      subject: String(account.id),
      sid: null,
      token,
      origin: new URL(this.#url).origin,
      all: {
        ...account,
        name: account.name || account.login,
        picture: account.avatar_url,
        email: address?.email,
        email_verified: address?.verified,
      },
    };
  }

  async #read<T>(token: string, path: string, shape: z.ZodType<T>): Promise<T> {
    const headers = new Headers({ accept: 'application/vnd.github+json' });
    const url = new URL(`${this.#url}${path}`);
    const response = await client.fetchProtectedResource(this.config, token, url, 'GET', undefined, headers);
    const parsed = shape.safeParse(await response.json().catch(() => null));
    if (!response.ok || !parsed.success) throw new AppError('upstream_failed', { cause: parsed.error });
    return parsed.data;
  }

  /** True if the token was issued to this client. GitHub answers this only to the client itself. */
  async isOurs(token: string): Promise<boolean> {
    const credentials = Buffer.from(`${this.#clientId}:${this.#clientSecret}`).toString('base64');
    const response = await fetch(`${this.#url}/applications/${this.#clientId}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${credentials}`,
        accept: 'application/vnd.github+json',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ access_token: token }),
      signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000),
    });
    // Any other status does not describe the token: the client secret may be wrong, or a limit used up.
    if (!response.ok && response.status !== 404 && response.status !== 422) {
      throw new AppError('upstream_failed');
    }
    return response.ok;
  }
}
