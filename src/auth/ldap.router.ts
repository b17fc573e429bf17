import { z } from 'zod';
import { administrator, open, router } from '../core/trpc.ts';
import { name } from '../core/wire.ts';
import { password } from '../users/users.schema.ts';
import { SessionUser } from './auth.schema.ts';
import { LdapTest } from './ldap.schema.ts';
import { signInByLdap, testLdap } from './ldap.service.ts';

export const ldapRouter = router({
  signIn: open
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/ldap',
        tags: ['auths'],
        summary: 'Sign in through the directory',
      },
      whenFull: true,
      access: 'open',
    })
    .input(z.object({ user: name(), password: password() }))
    .output(SessionUser)
    .mutation(({ ctx, input }) => signInByLdap(ctx.scope, input)),

  test: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/ldap/test',
        tags: ['auths'],
        summary:
          'What a sign-in through the directory does for somebody, step by step, without their password',
      },
      access: 'administrator',
    })
    .input(z.object({ user: name() }))
    .output(LdapTest)
    .mutation(({ ctx, input }) => testLdap(ctx.scope, input.user)),
});
