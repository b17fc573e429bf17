import { z } from 'zod';
import { administrator, open, router } from '../../core/trpc/trpc.ts';
import { id, label } from '../../core/wire.ts';
import { SessionUser } from '../auth.schema.ts';
import { ProviderSessionView } from '../sessions/sessions.schema.ts';
import { providerSessionsOf } from '../sessions/sessions.service.ts';
import { exchangeToken } from './oauth.service.ts';

export const oauthRouter = router({
  exchange: open
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/oauth/{provider}/token/exchange',
        tags: ['auths'],
        summary: 'Sign in with an access token of a provider',
        description:
          'For programs that obtained an access token at the provider with the client id of this ' +
          'server. Starts a session and answers its token; sets no cookie. It creates no account: a ' +
          'person without one gets 403 and signs in by a browser first. Refused with 403 unless ' +
          '`ENABLE_OAUTH_TOKEN_EXCHANGE` is on, with 404 for an unknown provider, with 400 for a token ' +
          'that is invalid or was issued to another client. Failed attempts count against the network ' +
          'address (429); 502 and 504 say that the provider failed or was too slow.',
        errorResponses: [403, 429, 502, 504],
      },
      access: 'open',
    })
    .input(
      z.object({
        provider: label(64),
        token: label(8192).min(1, 'must not be empty').describe('The access token, not the ID token'),
      }),
    )
    .output(SessionUser)
    .mutation(({ ctx, input }) => exchangeToken(ctx.scope, input)),

  sessionsOf: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/oauth/sessions',
        tags: ['users'],
        summary: 'List the sessions of an account that began at a provider',
        description:
          'Only sessions that have not ended, the one seen last first; `provider` is the issuer. No ' +
          'tokens of the provider are stored. The list is empty for an account that does not exist.',
      },
      access: 'administrator',
      credential: 'session',
    })
    .input(z.object({ id: id() }))
    .output(z.array(ProviderSessionView))
    .query(({ ctx, input }) => providerSessionsOf(ctx.scope, input.id)),
});
