import { z } from 'zod';
import { administrator, open, router } from '../core/trpc.ts';
import { id, label } from '../core/wire.ts';
import { SessionUser } from './auth.schema.ts';
import { exchangeToken } from './oauth.service.ts';
import { ProviderSessionView } from './sessions.schema.ts';
import { providerSessionsOf } from './sessions.service.ts';

export const oauthRouter = router({
  exchange: open
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/oauth/{provider}/token/exchange',
        tags: ['auths'],
        summary: 'Sign in with an access token that a provider gave to this client; sets no cookie',
      },
      access: 'open',
    })
    .input(z.object({ provider: label(64), token: label(8192).min(1, 'must not be empty') }))
    .output(SessionUser)
    .mutation(({ ctx, input }) => exchangeToken(ctx.scope, input)),

  sessionsOf: administrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/oauth/sessions',
        tags: ['users'],
        summary: 'The sessions of an account that began at a provider',
      },
      access: 'administrator',
      credential: 'session',
    })
    .input(z.object({ id: id() }))
    .output(z.array(ProviderSessionView))
    .query(({ ctx, input }) => providerSessionsOf(ctx.scope, input.id)),
});
