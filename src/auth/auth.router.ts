import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { account, accountIfAny, administrator, open, router } from '../core/trpc.ts';
import { accountForm, emailInput, givenAccountForm, newPassword, password } from '../users/users.schema.ts';
import { createUser } from '../users/users.service.ts';
import { AddedUser, SessionUser, SignedOut, WhoAmI } from './auth.schema.ts';
import { changePassword, signIn, signOut, signUp, whoAmI } from './auth.service.ts';

/** A page of another site can make a browser send a GET with its cookie; what changes something asks for more. */
const byHeader = accountIfAny.use(({ ctx, next }) => {
  if (ctx.credentials?.via !== 'cookie') return next();
  throw new AppError('origin_forbidden', {
    detail: 'Sign out by POST, or send the token in the Authorization header.',
  });
});

export const authRouter = router({
  signUp: open
    .meta({
      openapi: { method: 'POST', path: '/auths/signup', tags: ['auths'], summary: 'Make an account' },
      access: 'open',
    })
    .input(z.object(accountForm))
    .output(SessionUser)
    .mutation(({ ctx, input }) => signUp(ctx.scope, input)),

  add: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/add',
        tags: ['auths'],
        summary: 'Create an account, as POST /users does, where other clients look for it',
      },
      access: 'administrator',
    })
    .input(z.object(givenAccountForm))
    .output(AddedUser)
    .mutation(async ({ ctx, input }) => ({
      ...(await createUser(ctx.scope, input)),
      token: '',
      token_type: 'Bearer',
    })),

  signIn: open
    .meta({
      openapi: { method: 'POST', path: '/auths/signin', tags: ['auths'], summary: 'Sign in by password' },
      whenFull: true,
      access: 'open',
    })
    .input(z.object({ email: emailInput(), password: password() }))
    .output(SessionUser)
    .mutation(({ ctx, input }) => signIn(ctx.scope, input)),

  signOut: accountIfAny
    .meta({
      openapi: { method: 'POST', path: '/auths/signout', tags: ['auths'], summary: 'End this session' },
      whenFull: true,
      access: 'account',
      credential: 'session',
    })
    .output(SignedOut)
    .mutation(({ ctx }) => signOut(ctx.scope)),

  signOutByGet: byHeader
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths/signout',
        tags: ['auths'],
        summary: 'End this session; for clients that sign out by GET, never by cookie',
      },
      whenFull: true,
      access: 'account',
      credential: 'session',
    })
    .output(SignedOut)
    .query(({ ctx }) => signOut(ctx.scope)),

  whoAmI: account
    .meta({
      openapi: { method: 'GET', path: '/auths', tags: ['auths'], summary: 'Who am I' },
      access: 'account',
    })
    .output(WhoAmI)
    .query(({ ctx }) => whoAmI(ctx.scope, ctx.credentials?.token ?? '')),

  changePassword: account
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/update/password',
        tags: ['auths'],
        summary: 'Change the own password; ends all sessions of the account',
      },
      whenFull: true,
      access: 'account',
      credential: 'session',
    })
    .input(z.object({ password: password(), new_password: newPassword() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => changePassword(ctx.scope, input)),
});
