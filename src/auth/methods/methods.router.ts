import { z } from 'zod';
import type { Meta } from '../../core/trpc/meta.ts';
import { administrator, router } from '../../core/trpc/trpc.ts';
import { LdapServer, LdapState, OAuthSettings } from './methods.schema.ts';
import {
  ldapServer,
  ldapState,
  oauthSettingsOf,
  setLdapServer,
  setLdapState,
  setOAuthSettings,
} from './methods.service.ts';

interface Words {
  summary: string;
  description: string;
}

const openapi = (method: 'GET' | 'POST', path: `/${string}`, words: Words): Meta => ({
  openapi: { method, path, tags: ['auths'], ...words, ...(method === 'POST' && { errorResponses: [409] }) },
  access: 'administrator',
});

/** Makes all members optional. A member that is absent or null keeps its value. */
const some = <Shape extends z.ZodRawShape>(object: z.ZodObject<Shape>) =>
  z.object(
    Object.fromEntries(
      Object.entries(object.shape).map(([name, member]) => [name, (member as z.ZodType).nullish()]),
    ),
  ) as unknown as z.ZodObject<{ [Member in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Member]>> }>;

const LDAP = '/auths/admin/config/ldap';
const LDAP_SERVER = '/auths/admin/config/ldap/server';
const OAUTH = '/auths/admin/config/oauth';

/** Sign-in methods besides the password, with the procedures of comparable systems for administrators. */
export const methodsRouter = router({
  ldap: administrator
    .meta(
      openapi('GET', LDAP, {
        summary: 'Get whether sign-in through a directory is on',
        description:
          'True if the environment of the server configures an LDAP directory. `POST` takes the ' +
          'member as `enable_ldap`.',
      }),
    )
    .output(LdapState)
    .query(({ ctx }) => ldapState(ctx.scope)),

  setLdap: administrator
    .meta(
      openapi('POST', LDAP, {
        summary: 'Confirm whether sign-in through a directory is on',
        description:
          'Changes nothing: only the environment of the server decides. Answers the state if `enable_ldap` is equal ' +
          'to it or absent; another value is refused with 409 (`config_locked`).',
      }),
    )
    .input(z.object({ enable_ldap: z.boolean().nullish().describe('The present state; another is refused') }))
    .output(LdapState)
    .mutation(({ ctx, input }) => setLdapState(ctx.scope, input)),

  ldapServer: administrator
    .meta(
      openapi('GET', LDAP_SERVER, {
        summary: 'Get the settings of the directory',
        description:
          'As the environment of the server has them, also where no directory is configured. `app_dn_password` is ' +
          'masked.',
      }),
    )
    .output(LdapServer)
    .query(({ ctx }) => ldapServer(ctx.scope)),

  setLdapServer: administrator
    .meta(
      openapi('POST', LDAP_SERVER, {
        summary: 'Confirm the settings of the directory',
        description:
          'Changes nothing: the settings come from the environment of the server. Answers them if all members that ' +
          'are sent have their present values, where the mask stands for the password; another value is refused with ' +
          '409 (`config_locked`), and `issues` names the members. `label` and `ciphers` are ignored.',
      }),
    )
    .input(some(LdapServer))
    .output(LdapServer)
    .mutation(({ ctx, input }) => setLdapServer(ctx.scope, input)),

  oauth: administrator
    .meta(
      openapi('GET', OAUTH, {
        summary: 'Get the settings of sign-in through providers',
        description:
          'Settings of the configuration, which `POST` changes, together with those of the environment, which are ' +
          'fixed. `OAUTH_CLIENT_SECRET` is masked; lists are texts with commas.',
      }),
    )
    .output(OAuthSettings)
    .query(({ ctx }) => oauthSettingsOf(ctx.scope)),

  setOAuth: administrator
    .meta(
      openapi('POST', OAUTH, {
        summary: 'Change the settings of sign-in through providers',
        description:
          'Replaces the settings of the configuration that are sent; they act at once, and a member that is null or ' +
          'missing stays. A setting of the environment may be sent with its present value only: another value is ' +
          'refused with 409 (`config_locked`), and then nothing is changed. Answers all settings.',
      }),
    )
    .input(some(OAuthSettings))
    .output(OAuthSettings)
    .mutation(({ ctx, input }) => setOAuthSettings(ctx.scope, input)),
});
