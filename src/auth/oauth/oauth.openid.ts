import { createRemoteJWKSet, customFetch, decodeJwt, type JWTVerifyGetKey, jwtVerify } from 'jose';
import * as client from 'openid-client';
import { AppError } from '../../core/errors.ts';
import { errorOfProvider } from './oauth.errors.ts';
import type { Claims, Logout, Provider } from './oauth.provider.ts';

export interface OpenIdOptions {
  id: string;
  name: string;
  /** The issuer, or the address of its discovery document. */
  issuer: string;
  clientId: string;
  clientSecret: string | undefined;
  scopes: string;
}

const TIMEOUT_SECONDS = 10;
/** How long a discovery document is cached. */
const KEPT_MS = 3_600_000;
/** After a failure, discovery is not tried again for this time, however many users sign in. */
const PATIENCE_MS = 5_000;
/** The keys of a provider are not fetched again within this time, even if tokens name unknown keys. */
const KEYS_COOLDOWN_MS = 30_000;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** Maximum age of a logout token. */
const LOGOUT_SECONDS = 300;

interface Discovered {
  config: client.Configuration;
  keys: JWTVerifyGetKey | null;
}

/** A provider that uses OpenID Connect: code flow with PKCE, and back-channel logout. */
export function createOpenId(options: OpenIdOptions): Provider {
  const { id, name, clientId } = options;
  const discovered = remember(() => discover(options));
  return {
    id,
    name,
    async authorize(redirect_uri, { state, nonce, verifier }) {
      const { config } = await discovered();
      return client.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: options.scopes,
        state,
        nonce,
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
    },
    async identify(callback, proof) {
      const { config } = await discovered();
      return identify(config, callback, proof).catch((error: unknown) => {
        throw errorOfProvider(error);
      });
    },
    async exchange(token) {
      const { config } = await discovered();
      return exchange(config, clientId, token).catch((error: unknown) => {
        throw errorOfProvider(error);
      });
    },
    async endSession(issuer, backTo) {
      const { config } = await discovered();
      const metadata = config.serverMetadata();
      if (metadata.issuer !== issuer || !metadata.end_session_endpoint) return null;
      return client.buildEndSessionUrl(config, backTo === null ? {} : { post_logout_redirect_uri: backTo });
    },
    async readLogout(token) {
      const claimed = unverified(token);
      const isForUs = [claimed?.aud].flat().includes(clientId);
      if (!isForUs || typeof claimed?.iss !== 'string') return null;
      const { config, keys } = await discovered();
      const { issuer } = config.serverMetadata();
      if (claimed.iss !== issuer || keys === null) return null;
      return verifyLogout(token, keys, { issuer, clientId });
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OpenIdOptions): Promise<Discovered> {
  const server = new URL(issuer);
  const config = await client
    .discovery(server, clientId, undefined, authenticateBy(clientSecret), {
      timeout: TIMEOUT_SECONDS,
      // An http address in the environment is deliberate: for example, a provider in the same private
      // network.
      execute: [
        client.enableNonRepudiationChecks,
        ...(server.protocol === 'http:' ? [client.allowInsecureRequests] : []),
      ],
    })
    .catch((error: unknown) => {
      throw errorOfProvider(error);
    });
  const { jwks_uri } = config.serverMetadata();
  const keys = jwks_uri ? keysOf(new URL(jwks_uri)) : null;
  return { config, keys };
}

/** The client authentication method that the provider accepts. The standard's default is the header. */
const authenticateBy =
  (secret: string | undefined): client.ClientAuth =>
  (server, metadata, body, headers) => {
    const accepted = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const method =
      secret === undefined
        ? client.None()
        : accepted.includes('client_secret_basic')
          ? client.ClientSecretBasic(secret)
          : client.ClientSecretPost(secret);
    method(server, metadata, body, headers);
  };

/**
 * The keys of a provider. One request serves all tokens with an unknown key, also while the provider is down.
 */
function keysOf(address: URL): JWTVerifyGetKey {
  let askedAtMs = Number.NEGATIVE_INFINITY;
  return createRemoteJWKSet(address, {
    cooldownDuration: KEYS_COOLDOWN_MS,
    timeoutDuration: TIMEOUT_SECONDS * 1000,
    // The library has a cooldown after an answer, but not after a failure.
    [customFetch]: (url, init) => {
      if (Date.now() - askedAtMs < PATIENCE_MS) throw new AppError('upstream_failed');
      askedAtMs = Date.now();
      return fetch(url, init);
    },
  });
}

async function identify(
  config: client.Configuration,
  callback: URL,
  { state, nonce, verifier }: Parameters<Provider['identify']>[1],
): Promise<Claims> {
  // Signature, issuer, audience, times and nonce of the ID token are checked here.
  const tokens = await client.authorizationCodeGrant(config, callback, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
  });
  const claims = tokens.claims();
  if (!claims) throw new AppError('oauth_failed');
  const { userinfo_endpoint } = config.serverMetadata();
  const more: Partial<client.UserInfoResponse> = userinfo_endpoint
    ? await client.fetchUserInfo(config, tokens.access_token, claims.sub)
    : {};
  const sid = typeof claims.sid === 'string' ? claims.sid : null;
  // "Verified" applies to the address in the same response.
  const same = claims.email_verified === undefined && claims.email === more.email;
  const { email, email_verified } = claims.email === undefined || same ? more : claims;
  const all = { ...more, ...claims, email, email_verified };
  const origin = new URL(userinfo_endpoint ?? claims.iss).origin;
  return { issuer: claims.iss, subject: claims.sub, sid, token: tokens.access_token, origin, all };
}

/**
 * The owner of an access token cannot be verified from the token itself, so the provider is asked (RFC 7662).
 */
async function exchange(config: client.Configuration, clientId: string, token: string): Promise<Claims> {
  const { issuer, introspection_endpoint, userinfo_endpoint } = config.serverMetadata();
  if (!introspection_endpoint || !userinfo_endpoint) {
    throw new AppError('oauth_failed', { detail: 'The provider does not say whom it gives tokens to.' });
  }
  const said = await client.tokenIntrospection(config, token, { token_type_hint: 'access_token' });
  if (!said.active || said.client_id !== clientId || !said.sub) {
    throw new AppError('oauth_failed', { detail: 'That token is not valid, or is for another program.' });
  }
  const all = await client.fetchUserInfo(config, token, said.sub);
  return { issuer, subject: said.sub, sid: null, token, origin: new URL(userinfo_endpoint).origin, all };
}

/** The claims of a token, without verification. */
function unverified(token: string) {
  try {
    return decodeJwt(token);
  } catch {
    return null;
  }
}

/** OpenID Connect Back-Channel Logout 1.0, section 2.6. */
async function verifyLogout(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, clientId }: { issuer: string; clientId: string },
): Promise<Logout> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: clientId,
      maxTokenAge: LOGOUT_SECONDS,
      requiredClaims: ['iat', 'jti', 'events'],
      // Asymmetric algorithms only: a provider's key must never be used as a shared secret.
      algorithms: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
    });
    const { events, sub, sid, nonce } = payload;
    const isLogout = typeof events === 'object' && events !== null && LOGOUT_EVENT in events;
    const logout = { issuer, subject: sub ?? null, sid: typeof sid === 'string' ? sid : null };
    // An ID token has a nonce. It must not be accepted as a logout token.
    if (!isLogout || nonce !== undefined || (logout.subject === null && logout.sid === null)) {
      throw new AppError('oauth_failed');
    }
    return logout;
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError('oauth_failed', { detail: 'That is no token of a logout that is valid now.', cause });
  }
}

/** Caches one answer for an hour, and one failure for seconds. */
function remember<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  let untilMs = 0;
  return () => {
    if (!answer || Date.now() >= untilMs) {
      untilMs = Number.POSITIVE_INFINITY;
      answer = ask();
      answer.then(
        () => {
          untilMs = Date.now() + KEPT_MS;
        },
        () => {
          untilMs = Date.now() + PATIENCE_MS;
        },
      );
    }
    return answer;
  };
}
