import { z } from 'zod';
import { AppError } from '../core/errors.ts';
import { account, accountIfAny, administrator, open, router } from '../core/trpc/trpc.ts';
import { accountForm, emailInput, givenAccountForm, newPassword, password } from '../users/users.schema.ts';
import { createUser } from '../users/users.service.ts';
import { AddedUser, SessionUser, SignedOut, WhoAmI } from './auth.schema.ts';
import { changePassword, signIn, signOut, signUp, whoAmI } from './auth.service.ts';

/**
 * A page of another site can make a browser send a GET with the session cookie. A sign-out by GET therefore
 * requires the Authorization header.
 */
const byHeader = accountIfAny.use(({ ctx, next }) => {
  if (ctx.credentials?.via !== 'cookie') return next();
  throw new AppError('origin_forbidden', {
    detail: 'Sign out by POST, or send the token in the Authorization header.',
  });
});

export const authRouter = router({
  signUp: open
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/signup',
        tags: ['auths'],
        summary: 'Create an account and sign in',
        description:
          'Creates an account with a password, signs it in and sets the session cookie; the answer ' +
          'holds the token. The first account of a server becomes administrator; later accounts get the ' +
          'role `ui.default_user_role`, where `pending` waits for approval. The account joins the group ' +
          '`ui.default_group_id`, if it is set. Refused with 403 when sign-up or the login form is ' +
          'switched off; a network address may sign up 60 times an hour unless the configuration says ' +
          'otherwise, and is then answered 429.',
        errorResponses: [403, 429],
      },
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
        summary: 'Create an account, under the path that other clients use',
        description:
          'Does what `POST /users` does, with status 200. It does not sign the new account in: `token` ' +
          'is always empty. An address that already has an account is refused with 400 (`email_taken`).',
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
      openapi: {
        method: 'POST',
        path: '/auths/signin',
        tags: ['auths'],
        summary: 'Sign in by password',
        description:
          'Starts a session, sets the session cookie and answers the token; a `pending` account can ' +
          'sign in too. An unknown address and a wrong password get the same answer, 400 ' +
          '(`credentials_wrong`). Each e-mail address has 5 attempts in 3 minutes, successful or not; a ' +
          'device that signed in to the account before has 5 of its own. A network address has 30 ' +
          'failed attempts in 3 minutes unless the configuration says otherwise. Further attempts are ' +
          'answered 429; 403 says that sign-in by password is switched off.',
        errorResponses: [403, 429],
      },
      whenFull: true,
      access: 'open',
    })
    .input(z.object({ email: emailInput(), password: password() }))
    .output(SessionUser)
    .mutation(({ ctx, input }) => signIn(ctx.scope, input)),

  signOut: accountIfAny
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/signout',
        tags: ['auths'],
        summary: 'End this session',
        description:
          'Ends the session of the request, closes its sockets and deletes the cookie; other sessions ' +
          'of the account go on. Without valid credentials it answers 200 too, so a repeat is harmless; ' +
          'an API key is refused with 403. `redirect_url` is present if the session began at an OpenID ' +
          'Connect provider with a logout page: a browser goes there to end that session as well.',
      },
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
        summary: 'End this session by GET',
        description:
          'Does what `POST /auths/signout` does, for clients that sign out by GET. Credentials in the ' +
          'cookie are refused with 403, because another site can make a browser send such a request.',
      },
      whenFull: true,
      access: 'account',
      credential: 'session',
    })
    .output(SignedOut)
    .query(({ ctx }) => signOut(ctx.scope)),

  whoAmI: account
    .meta({
      openapi: {
        method: 'GET',
        path: '/auths',
        tags: ['auths'],
        summary: 'Get the account of the caller',
        description:
          "Answers the caller's account, profile and effective permissions. `token` repeats the " +
          'credential of this request, a session token or an API key, and `expires_at` is its end, null ' +
          'for none; no new token is issued. A `pending` account may call it.',
      },
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
        summary: "Change the caller's password",
        description:
          'Needs the current password; a wrong one is answered 400 (`password_wrong`), as is every ' +
          'attempt on an account that has no password because it signs in through a provider or a ' +
          'directory. Ends all sessions of the account, this one included, and deletes the cookie; API ' +
          'keys stay valid. Each account has 5 attempts in 3 minutes unless the configuration says ' +
          'otherwise, successful or not; further ones are answered 429.',
        errorResponses: [429],
      },
      whenFull: true,
      access: 'account',
      credential: 'session',
    })
    .input(z.object({ password: password(), new_password: newPassword() }))
    .output(z.boolean())
    .mutation(({ ctx, input }) => changePassword(ctx.scope, input)),
});
