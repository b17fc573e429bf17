import { defineNoun } from '../noun.ts';
import { errors } from './auth.errors.ts';
import { startAuth } from './auth.parts.ts';
import { authRouter } from './auth.router.ts';
import { Identity, ProviderSession } from './identities/identities.entity.ts';
import { ApiKey } from './keys/keys.entity.ts';
import { keysRouter } from './keys/keys.router.ts';
import { ldapRouter } from './ldap/ldap.router.ts';
import { methodsRouter } from './methods/methods.router.ts';
import { oauthRouter } from './oauth/oauth.router.ts';
import { Session } from './sessions/session.entity.ts';
import { sessionsRouter } from './sessions/sessions.router.ts';

export const auth = defineNoun({
  name: 'auth',
  errors,
  routers: {
    auths: authRouter,
    apiKeys: keysRouter,
    ldap: ldapRouter,
    methods: methodsRouter,
    oauth: oauthRouter,
    sessions: sessionsRouter,
  },
  entities: [ApiKey, Identity, ProviderSession, Session],
  start: startAuth,
  onAccountDeleted: 'foreign keys decide',
});
