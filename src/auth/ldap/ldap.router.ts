import { z } from 'zod';
import { administrator, open, router } from '../../core/trpc/trpc.ts';
import { name } from '../../core/wire.ts';
import { password } from '../../users/users.schema.ts';
import { SessionUser } from '../auth.schema.ts';
import { LdapTest } from './ldap.schema.ts';
import { signInByLdap, testLdap } from './ldap.service.ts';

const userName = () =>
  name().describe('The user name, as the directory has it; the search filter decides what fits');

export const ldapRouter = router({
  signIn: open
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/ldap',
        tags: ['auths'],
        summary: 'Sign in through the directory',
        description:
          'Checks the user name and password against the LDAP directory that the environment ' +
          'configures, starts a session, sets the cookie and answers the token. The first sign-in of a ' +
          'person creates an account, or is bound to the account with the same address where ' +
          '`LDAP_MERGE_ACCOUNTS_BY_EMAIL` is on; otherwise such an address is refused with 400 ' +
          '(`email_taken`). Each sign-in takes over the groups and the role if the server is set up so; ' +
          'a changed role ends the older sessions. The limits of `POST /auths/signin` hold (429); 403 ' +
          'says that no directory is configured, 502 that it does not answer.',
        errorResponses: [403, 429, 502],
      },
      whenFull: true,
      access: 'open',
    })
    .input(z.object({ user: userName(), password: password() }))
    .output(SessionUser)
    .mutation(({ ctx, input }) => signInByLdap(ctx.scope, input)),

  test: administrator
    .meta({
      openapi: {
        method: 'POST',
        path: '/auths/ldap/test',
        tags: ['auths'],
        summary: 'Test the sign-in of a person through the directory',
        description:
          'Looks a user name up in the directory without a password and reports each step of a sign-in ' +
          'in order: connection, search, entry, address, groups, role, account. Changes nothing. A step ' +
          'that fails is reported with `ok: false` in a 200 answer and ends the list if the next steps ' +
          'need it; 403 says that no directory is configured.',
      },
      access: 'administrator',
    })
    .input(z.object({ user: userName() }))
    .output(LdapTest)
    .mutation(({ ctx, input }) => testLdap(ctx.scope, input.user)),
});
