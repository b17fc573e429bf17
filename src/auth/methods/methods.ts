import { MASK } from '../../core/secrets/masks.ts';
import type { Env } from '../../env.ts';
import type { LdapServer, OAuthFixed } from './methods.schema.ts';

declare module '../../core/scope.ts' {
  interface Parts {
    readonly methods: Methods;
  }
}

/** Sign-in settings from the environment, as administrators see them: secrets are masked. */
export interface Methods {
  readonly ldap: LdapServer;
  readonly oauth: OAuthFixed;
}

const masked = (secret: string | undefined) => (secret ? MASK : '');

export const describeMethods = (env: Env): Methods => ({
  ldap: {
    label: 'LDAP',
    host: env.LDAP_SERVER_HOST,
    port: env.LDAP_SERVER_PORT ?? null,
    attribute_for_mail: env.LDAP_ATTRIBUTE_FOR_MAIL,
    default_email_domain: '',
    attribute_for_username: env.LDAP_ATTRIBUTE_FOR_USERNAME,
    app_dn: env.LDAP_APP_DN ?? '',
    app_dn_password: masked(env.LDAP_APP_PASSWORD),
    search_base: env.LDAP_SEARCH_BASE,
    search_filters: env.LDAP_SEARCH_FILTER ?? '',
    use_tls: env.LDAP_USE_TLS,
    certificate_path: env.LDAP_CA_CERT_FILE ?? null,
    validate_cert: env.LDAP_VALIDATE_CERT,
    ciphers: null,
    enable_group_management: env.ENABLE_LDAP_GROUP_MANAGEMENT,
    enable_group_creation: env.ENABLE_LDAP_GROUP_CREATION,
    attribute_for_groups: env.LDAP_ATTRIBUTE_FOR_GROUPS,
  },
  oauth: {
    ENABLE_OAUTH: [
      env.OAUTH_CLIENT_ID,
      env.GOOGLE_CLIENT_ID,
      env.MICROSOFT_CLIENT_ID,
      env.GITHUB_CLIENT_ID,
    ].some((id) => id !== undefined),
    OAUTH_AUTO_REDIRECT: false,
    OAUTH_PROVIDER_NAME: env.OAUTH_PROVIDER_NAME,
    OPENID_PROVIDER_URL: env.OPENID_PROVIDER_URL ?? '',
    OAUTH_CLIENT_ID: env.OAUTH_CLIENT_ID ?? '',
    OAUTH_CLIENT_SECRET: masked(env.OAUTH_CLIENT_SECRET),
    OAUTH_SCOPES: env.OAUTH_SCOPES,
    OAUTH_EMAIL_CLAIM: env.OAUTH_EMAIL_CLAIM,
    OAUTH_USERNAME_CLAIM: env.OAUTH_USERNAME_CLAIM,
    OAUTH_PICTURE_CLAIM: env.OAUTH_PICTURE_CLAIM,
    OAUTH_ROLES_CLAIM: env.OAUTH_ROLES_CLAIM,
    OAUTH_GROUP_CLAIM: env.OAUTH_GROUP_CLAIM,
    OAUTH_ALLOWED_ROLES: env.OAUTH_ALLOWED_ROLES.join(','),
    OAUTH_ADMIN_ROLES: env.OAUTH_ADMIN_ROLES.join(','),
  },
});
