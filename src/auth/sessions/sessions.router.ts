import { z } from 'zod';
import { account, administrator, router } from '../../core/trpc/trpc.ts';
import { id } from '../../core/wire.ts';
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
        summary: "List the caller's sessions",
        description:
          'Only sessions that have not ended, the one seen last first, all at once. `is_current` marks ' +
          'the session of this request; `last_seen_at` is exact to about half a minute. A `pending` ' +
          'account may call it.',
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
        summary: "End one of the caller's sessions",
        description:
          'The token of the session stops working at once and its sockets are closed; the current ' +
          'session may be ended so too, which deletes the cookie. `ended` is 1. A repeat, and the ' +
          'session of another account, are answered 404.',
      },
      access: 'account',
    })
    .input(z.object({ id: id() }))
    .output(Ended)
    .mutation(async ({ ctx, input }) => ({
      ended: await endSessions(ctx.scope, { userId: ctx.scope.actor.id, sessionId: input.id }),
    })),

  endAll: signedIn
    .meta({
      openapi: {
        method: 'DELETE',
        path: '/auths/sessions',
        tags: ['auths'],
        summary: "End all of the caller's sessions",
        description:
          'All tokens of the account stop working at once and their sockets are closed, those of this session ' +
          'too unless `keep_current` is true; API keys stay valid. `ended` is the number of sessions.',
      },
      access: 'account',
    })
    .input(z.object({ keep_current: z.boolean().default(false) }))
    .output(Ended)
    .mutation(async ({ ctx: { scope }, input }) => ({
      ended: await endSessions(scope, {
        userId: scope.actor.id,
        sessionId: null,
        keptId: input.keep_current ? scope.actor.sessionId : null,
      }),
    })),

  listOf: signedInAdministrator
    .meta({
      openapi: {
        method: 'GET',
        path: '/users/{id}/sessions',
        tags: ['users'],
        summary: 'List the sessions of an account',
        description:
          'Only sessions that have not ended, the one seen last first, all at once. The list is empty ' +
          'for an account that does not exist.',
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
        description:
          'The token of the session stops working at once and its sockets are closed. `ended` is 1. A ' +
          'repeat, and a session of another account than `id`, are answered 404.',
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
        summary: 'End all sessions of an account, for clients that expect true',
        description:
          'Does what `DELETE /users/{id}/sessions` does, but answers true, and 404 for an account that ' +
          'does not exist. API keys of the account stay valid.',
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
        summary: 'Get the state of the second factor: always off',
        description:
          'For clients that ask before they show a setting. This version has no second factor, so the ' +
          'answer is the same for every account.',
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
        description:
          'All tokens of the account stop working at once and their sockets are closed; API keys stay ' +
          'valid. `ended` is the number of sessions, 0 on a repeat and for an account that does not ' +
          'exist. An administrator who names their own account is signed out too.',
      },
      access: 'administrator',
    })
    .input(z.object({ id: id() }))
    .output(Ended)
    .mutation(async ({ ctx, input }) => ({
      ended: await endSessions(ctx.scope, { userId: input.id, sessionId: null }),
    })),
});
