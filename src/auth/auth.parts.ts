import type { Base } from '../noun.ts';
import { passwordCostOf } from '../users/passwords/passwords.ts';
import { createAuthenticator } from './authenticator.ts';
import { createDirectory } from './ldap/ldap.directory.ts';
import { createSigninLimit } from './limits/limits.ts';
import { describeMethods } from './methods/methods.ts';
import { createOAuth } from './oauth/oauth.providers.ts';
import { trackSeen } from './sessions/seen.ts';
import { removeExpiredSessions } from './sessions/session.ts';

export async function startAuth({ env, sql, bus, configs, secret, shared, warn }: Base) {
  const oauth = createOAuth(env);
  const directory = await createDirectory(env);
  const seen = trackSeen(sql, warn('The last use of credentials could not be stored.'));
  const expiry = removeExpiredSessions(sql, warn('Expired sessions could not be removed.'));
  const { tokens, authenticate } = createAuthenticator({ sql, bus, configs, secret, onSeen: seen.seen });
  const parts = {
    oauth,
    directory,
    tokens,
    authenticate,
    methods: describeMethods(env),
    passwordCost: passwordCostOf(env),
    signinLimit: createSigninLimit({ shared, secret, configs, knowsProxies: env.TRUSTED_PROXIES.length > 0 }),
  };
  return { parts, close: () => Promise.all([seen.close(), expiry.close()]) };
}
