import { z } from 'zod';

const flag = z.boolean();
const text = z.string();

export const LdapState = z.object({ ENABLE_LDAP: flag }).meta({ id: 'LdapState' });

/** The directory, with the member names that clients of comparable systems use. */
export const LdapServer = z
  .object({
    label: text,
    host: text,
    port: z.int().nullable(),
    attribute_for_mail: text,
    default_email_domain: text,
    attribute_for_username: text,
    app_dn: text,
    /** Masked. */
    app_dn_password: text,
    search_base: text,
    search_filters: text,
    use_tls: flag,
    certificate_path: text.nullable(),
    validate_cert: flag,
    ciphers: text.nullable(),
    enable_group_management: flag,
    enable_group_creation: flag,
    attribute_for_groups: text,
  })
  .meta({ id: 'LdapServer' });
export type LdapServer = z.infer<typeof LdapServer>;

/** Provider sign-in settings that are stored in the configuration. */
export const oauthSettings = {
  ENABLE_OAUTH_SIGNUP: flag,
  OAUTH_MERGE_ACCOUNTS_BY_EMAIL: flag,
  /** Comma-separated. */
  OAUTH_ALLOWED_DOMAINS: text,
  ENABLE_OAUTH_ROLE_MANAGEMENT: flag,
  ENABLE_OAUTH_GROUP_MANAGEMENT: flag,
  ENABLE_OAUTH_GROUP_CREATION: flag,
  OAUTH_UPDATE_EMAIL_ON_LOGIN: flag,
  OAUTH_UPDATE_NAME_ON_LOGIN: flag,
  OAUTH_UPDATE_PICTURE_ON_LOGIN: flag,
};

/**
 * Settings that environment variables hold: the OpenID Connect provider, and the claim names for all
 * providers.
 */
export const oauthFixed = {
  ENABLE_OAUTH: flag,
  OAUTH_AUTO_REDIRECT: flag,
  OAUTH_PROVIDER_NAME: text,
  OPENID_PROVIDER_URL: text,
  OAUTH_CLIENT_ID: text,
  /** Masked. */
  OAUTH_CLIENT_SECRET: text,
  OAUTH_SCOPES: text,
  OAUTH_EMAIL_CLAIM: text,
  OAUTH_USERNAME_CLAIM: text,
  OAUTH_PICTURE_CLAIM: text,
  OAUTH_ROLES_CLAIM: text,
  OAUTH_GROUP_CLAIM: text,
  OAUTH_ALLOWED_ROLES: text,
  OAUTH_ADMIN_ROLES: text,
};
const OAuthFixed = z.object(oauthFixed);
export type OAuthFixed = z.infer<typeof OAuthFixed>;

export const OAuthSettings = z.object({ ...oauthSettings, ...oauthFixed }).meta({ id: 'OAuthSettings' });
export type OAuthSettings = z.infer<typeof OAuthSettings>;
