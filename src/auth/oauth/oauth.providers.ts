import { type Env, StartError } from '../../env.ts';
import { createGitHub } from './oauth.github.ts';
import { createOpenId } from './oauth.openid.ts';
import type { Provider } from './oauth.provider.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly oauth: OAuth;
  }
}

type ClaimNames = Record<'email' | 'name' | 'picture' | 'roles' | 'groups', string>;

/** The providers in the environment, and the settings for reading their claims. */
export interface OAuth {
  readonly providers: ReadonlyMap<string, Provider>;
  readonly claimNames: ClaimNames;
  readonly allowedRoles: readonly string[];
  readonly adminRoles: readonly string[];
  /** Whether programs may exchange a provider's access tokens for sessions. */
  readonly mayExchange: boolean;
  /** Providers whose addresses count as verified if the claim is absent. */
  readonly trustedEmail: readonly string[];
}

/** Names that stand for many tenants. */
const SHARED_TENANTS = ['common', 'organizations', 'consumers'];

/** @throws StartError if only some of a provider's variables are set */
export function createOAuth(env: Env): OAuth {
  const providers: Provider[] = [];
  const openId = (id: string, name: string, issuer: string, clientId: string, clientSecret?: string) =>
    providers.push(createOpenId({ id, name, issuer, clientId, clientSecret, scopes: env.OAUTH_SCOPES }));

  if (together(env, 'OAUTH_CLIENT_ID', 'OPENID_PROVIDER_URL')) {
    const { OPENID_PROVIDER_URL = '', OAUTH_CLIENT_ID = '', OAUTH_CLIENT_SECRET } = env;
    openId('oidc', env.OAUTH_PROVIDER_NAME, OPENID_PROVIDER_URL, OAUTH_CLIENT_ID, OAUTH_CLIENT_SECRET);
  }
  if (together(env, 'GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET')) {
    const { GOOGLE_CLIENT_ID = '', GOOGLE_CLIENT_SECRET } = env;
    openId('google', 'Google', 'https://accounts.google.com', GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET);
  }
  if (together(env, 'MICROSOFT_CLIENT_ID', 'MICROSOFT_CLIENT_SECRET', 'MICROSOFT_CLIENT_TENANT_ID')) {
    const { MICROSOFT_CLIENT_ID = '', MICROSOFT_CLIENT_SECRET, MICROSOFT_CLIENT_TENANT_ID } = env;
    if (
      SHARED_TENANTS.includes(`${MICROSOFT_CLIENT_TENANT_ID}`.toLowerCase()) &&
      env.OAUTH_TRUSTED_EMAIL_PROVIDERS.includes('microsoft')
    ) {
      // Any person can create a tenant and put any address into it.
      throw new StartError(
        'The environment variable OAUTH_TRUSTED_EMAIL_PROVIDERS is wrong: microsoft can be trusted for one tenant only.',
      );
    }
    const issuer = `https://login.microsoftonline.com/${MICROSOFT_CLIENT_TENANT_ID}/v2.0`;
    openId('microsoft', 'Microsoft', issuer, MICROSOFT_CLIENT_ID, MICROSOFT_CLIENT_SECRET);
  }
  if (together(env, 'GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET')) {
    const { GITHUB_CLIENT_ID = '', GITHUB_CLIENT_SECRET = '', GITHUB_SERVER_URL } = env;
    providers.push(createGitHub(GITHUB_SERVER_URL, GITHUB_CLIENT_ID, GITHUB_CLIENT_SECRET));
  }
  return {
    providers: new Map(providers.map((provider) => [provider.id, provider])),
    claimNames: {
      email: env.OAUTH_EMAIL_CLAIM,
      name: env.OAUTH_USERNAME_CLAIM,
      picture: env.OAUTH_PICTURE_CLAIM,
      roles: env.OAUTH_ROLES_CLAIM,
      groups: env.OAUTH_GROUP_CLAIM,
    },
    allowedRoles: env.OAUTH_ALLOWED_ROLES,
    adminRoles: env.OAUTH_ADMIN_ROLES,
    mayExchange: env.ENABLE_OAUTH_TOKEN_EXCHANGE,
    trustedEmail: env.OAUTH_TRUSTED_EMAIL_PROVIDERS,
  };
}

/** True if all variables of a group are set, false if none is. @throws StartError if only some are set */
function together(env: Env, ...names: (keyof Env)[]): boolean {
  const missing = names.filter((name) => env[name] === undefined);
  if (missing.length === names.length) return false;
  const [first] = missing;
  if (first === undefined) return true;
  const given = names.filter((name) => !missing.includes(name)).join(' and ');
  throw new StartError(`The environment variable ${first} is wrong: it must be set where ${given} is.`);
}
