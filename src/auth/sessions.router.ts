import { z } from 'zod';
import { account, administrator, router } from '../core/trpc.ts';
import { id } from '../core/wire.ts';
import { SessionView } from './sessions.schema.ts';
import { endSessions, revokeSessions, sessionsOf } from './sessions.service.ts';

const signedIn = account.meta({ access: 'account', credential: 'session' });
const signedInAdministrator = administrator.meta({ access: 'administrator', credential: 'session' });
const Ended = z.object({ ended: z.int() });

export const sessionsRouter = router({
  list: signedIn
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths/sessions',
        tags: ['auths'],
        summary: "The caller's sessions, the one seen last first",
      },
      access: 'account',
    })
    .output(z.array(SessionView))
    .query(({ ctx }) => sessionsOf(ctx.scope, ctx.scope.actor.id)),

  end: signedIn
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/auths/sessions/{id}',
        tags: ['auths'],
        summary: 'End a session of the caller',
      },
      access: 'account',
    })
    .input(z.object({ id: id() }))
    .output(Ended)
    .mutation(async ({ ctx, input }) => ({
      ended: await endSessions(ctx.scope, { userId: ctx.scope.actor.id, sessionId: input.id }),
    })),

  listOf: signedInAdministrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/sessions',
        tags: ['users'],
        summary: 'The sessions of an account',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id() }))
    .output(z.array(SessionView))
    .query(({ ctx, input }) => sessionsOf(ctx.scope, input.id)),

  endOf: signedInAdministrator
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/users/{id}/sessions/{session_id}',
        tags: ['users'],
        summary: 'End a session of an account',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id(), session_id: id() }))
    .output(Ended)
    .mutation(async ({ ctx, input }) => ({
      ended: await endSessions(ctx.scope, { userId: input.id, sessionId: input.session_id }),
    })),

  revokeOf: signedInAdministrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/users/{id}/sessions/revoke',
        tags: ['users'],
        summary: 'End all sessions of an account, as clients of comparable systems ask for it',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => revokeSessions(ctx.scope, input.id)),

  mfa: account
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths/mfa/status',
        tags: ['auths'],
        summary: 'Whether the account has a second factor; this version knows none',
      },
      access: 'account',
    })
    .output(
      z.object({
        enabled: z.literal(false),
        required: z.literal(false),
        recovery_codes_remaining: z.literal(0),
      }),
    )
    .query(() => ({
      enabled: false as const,
      required: false as const,
      recovery_codes_remaining: 0 as const,
    })),

  endAllOf: signedInAdministrator
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/users/{id}/sessions',
        tags: ['users'],
        summary: 'End all sessions of an account',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id() }))
    .output(Ended)
    .mutation(async ({ ctx, input }) => ({
      ended: await endSessions(ctx.scope, { userId: input.id, sessionId: null }),
    })),
});
