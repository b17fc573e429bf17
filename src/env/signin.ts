import { z } from 'zod';
import { flag, httpUrl, list, named, namesList, port, text } from './values.ts';

/** Variables of the sign-in through providers and a directory. */
export const signInVariables = {
  /** Sign-in through any OpenID Connect provider: its issuer, or the address of its discovery document. */
  OPENID_PROVIDER_URL: httpUrl.optional(),
  OAUTH_CLIENT_ID: text.optional(),
  /** Not set for a public client, which uses only PKCE. */
  OAUTH_CLIENT_SECRET: text.optional(),
  /** The text of the button. */
  OAUTH_PROVIDER_NAME: text.default('SSO'),
  OAUTH_SCOPES: text.default('openid email profile'),
  GOOGLE_CLIENT_ID: text.optional(),
  GOOGLE_CLIENT_SECRET: text.optional(),
  MICROSOFT_CLIENT_ID: text.optional(),
  MICROSOFT_CLIENT_SECRET: text.optional(),
  /** One tenant's id or domain. */
  MICROSOFT_CLIENT_TENANT_ID: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]*$/i, 'must be the id or the domain of a tenant')
    .optional(),
  GITHUB_CLIENT_ID: text.optional(),
  GITHUB_CLIENT_SECRET: text.optional(),
  /** Any other value than github.com is an Enterprise Server. */
  GITHUB_SERVER_URL: httpUrl.default('https://github.com'),
  /** Claims by their names; dots lead into objects, as in `realm_access.roles`. */
  OAUTH_EMAIL_CLAIM: named('email'),
  OAUTH_USERNAME_CLAIM: named('name'),
  OAUTH_PICTURE_CLAIM: named('picture'),
  OAUTH_ROLES_CLAIM: named('roles'),
  OAUTH_GROUP_CLAIM: named('groups'),
  /** Roles of a provider that admit an account, and roles that make an administrator. */
  OAUTH_ALLOWED_ROLES: list.default(['user', 'admin']),
  OAUTH_ADMIN_ROLES: list.default(['admin']),
  /** Whether programs may trade access tokens of providers for sessions. */
  ENABLE_OAUTH_TOKEN_EXCHANGE: flag.default(false),
  /** Providers that check addresses without saying so (no `email_verified`), such as a company's own. */
  OAUTH_TRUSTED_EMAIL_PROVIDERS: list
    .pipe(z.array(z.enum(['oidc', 'google', 'microsoft', 'github'])))
    .default([]),
  /** Sign-in through a directory. */
  ENABLE_LDAP: flag.default(false),
  LDAP_SERVER_HOST: text.default('localhost'),
  LDAP_SERVER_PORT: port.optional(),
  /** TLS from the first byte (ldaps). */
  LDAP_USE_TLS: flag.default(true),
  /** TLS by StartTLS on the plain port; instead of `LDAP_USE_TLS`. */
  LDAP_START_TLS: flag.default(false),
  LDAP_VALIDATE_CERT: flag.default(true),
  /** Certificate authorities that are trusted beside the system's, as PEM. */
  LDAP_CA_CERT_FILE: text.optional(),
  /** The account that searches; anonymous without it. */
  LDAP_APP_DN: text.optional(),
  LDAP_APP_PASSWORD: text.optional(),
  LDAP_SEARCH_BASE: z.string().default(''),
  /** The filter for entries below the base that may sign in, such as `(objectClass=person)`. */
  LDAP_SEARCH_FILTER: text.optional(),
  LDAP_ATTRIBUTE_FOR_MAIL: named('mail'),
  LDAP_ATTRIBUTE_FOR_USERNAME: named('uid'),
  LDAP_ATTRIBUTE_FOR_NAME: named('cn'),
  LDAP_ATTRIBUTE_FOR_GROUPS: named('memberOf'),
  /** Whether an entry of the directory gets the existing account with the same address. */
  LDAP_MERGE_ACCOUNTS_BY_EMAIL: flag.default(false),
  /** Whether each sign-in copies name and address from the directory. */
  LDAP_UPDATE_NAME_ON_LOGIN: flag.default(false),
  LDAP_UPDATE_EMAIL_ON_LOGIN: flag.default(false),
  ENABLE_LDAP_GROUP_MANAGEMENT: flag.default(false),
  ENABLE_LDAP_GROUP_CREATION: flag.default(false),
  /** Whether groups of the directory decide which accounts are administrators, members or pending. */
  ENABLE_LDAP_ROLE_MANAGEMENT: flag.default(false),
  LDAP_ADMIN_GROUPS: namesList.default([]),
  /** The group that admits accounts; without it every found entry is admitted. */
  LDAP_ALLOWED_GROUPS: namesList.default([]),
};
