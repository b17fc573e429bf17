import { z } from 'zod';
import { administrator, type Meta, router } from '../core/trpc.ts';
import { LdapServer, LdapState, OAuthSettings } from './methods.schema.ts';
import {
  ldapServer,
  ldapState,
  oauthSettingsOf,
  setLdapServer,
  setLdapState,
  setOAuthSettings,
} from './methods.service.ts';

const openapi = (method: 'GET' | 'POST', path: `/${string}`, summary: string): Meta => ({
  openapi: { method, path, tags: ['auths'], summary, ...(method === 'POST' && { errorResponses: [409] }) },
  access: 'administrator',
});

/** Members that are not sent, or sent as null, stay as they are. */
const some = <Shape extends z.ZodRawShape>(object: z.ZodObject<Shape>) =>
  z.object(
    Object.fromEntries(
      Object.entries(object.shape).map(([name, member]) => [name, (member as z.ZodType).nullish()]),
    ),
  ) as unknown as z.ZodObject<{ [Member in keyof Shape]: z.ZodOptional<z.ZodNullable<Shape[Member]>> }>;

const LDAP = '/auths/admin/config/ldap';
const LDAP_SERVER = '/auths/admin/config/ldap/server';
const OAUTH = '/auths/admin/config/oauth';

/** Ways to sign in besides the password, as clients of comparable systems show them to administrators. */
export const methodsRouter = router({
  ldap: administrator
    .meta(openapi('GET', LDAP, 'Whether people sign in through a directory'))
    .output(LdapState)
    .query(({ ctx }) => ldapState(ctx.scope)),

  setLdap: administrator
    .meta(openapi('POST', LDAP, 'The same; 409 for another state, which the environment decides'))
    .input(z.object({ enable_ldap: z.boolean().nullish() }))
    .output(LdapState)
    .mutation(({ ctx, input }) => setLdapState(ctx.scope, input)),

  ldapServer: administrator
    .meta(openapi('GET', LDAP_SERVER, 'The directory, as the environment names it; its password is masked'))
    .output(LdapServer)
    .query(({ ctx }) => ldapServer(ctx.scope)),

  setLdapServer: administrator
    .meta(openapi('POST', LDAP_SERVER, 'The same; 409 for another directory, which the environment decides'))
    .input(some(LdapServer))
    .output(LdapServer)
    .mutation(({ ctx, input }) => setLdapServer(ctx.scope, input)),

  oauth: administrator
    .meta(openapi('GET', OAUTH, 'Settings of sign-in through providers; the secret is masked'))
    .output(OAuthSettings)
    .query(({ ctx }) => oauthSettingsOf(ctx.scope)),

  setOAuth: administrator
    .meta(
      openapi('POST', OAUTH, 'Replace those of the configuration; 409 for others than the environment has'),
    )
    .input(some(OAuthSettings))
    .output(OAuthSettings)
    .mutation(({ ctx, input }) => setOAuthSettings(ctx.scope, input)),
});
