import { changeSettings, exportConfiguration } from '../../configs/configs.service.ts';
import { valueAt } from '../../configs/settings/configs.settings.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { NAMED_VARIABLES } from '../../env/settings.ts';
import { type LdapServer, type OAuthSettings, oauthSettings } from './methods.schema.ts';

/** The environment variable of each member with a different name; null for a member without one. */
const VARIABLES: Readonly<Record<string, string | null>> = {
  host: 'LDAP_SERVER_HOST',
  port: 'LDAP_SERVER_PORT',
  attribute_for_mail: 'LDAP_ATTRIBUTE_FOR_MAIL',
  default_email_domain: null,
  attribute_for_username: 'LDAP_ATTRIBUTE_FOR_USERNAME',
  app_dn: 'LDAP_APP_DN',
  app_dn_password: 'LDAP_APP_PASSWORD',
  search_base: 'LDAP_SEARCH_BASE',
  search_filters: 'LDAP_SEARCH_FILTER',
  use_tls: 'LDAP_USE_TLS',
  certificate_path: 'LDAP_CA_CERT_FILE',
  validate_cert: 'LDAP_VALIDATE_CERT',
  enable_group_management: 'ENABLE_LDAP_GROUP_MANAGEMENT',
  enable_group_creation: 'ENABLE_LDAP_GROUP_CREATION',
  attribute_for_groups: 'LDAP_ATTRIBUTE_FOR_GROUPS',
  ENABLE_OAUTH: 'OAUTH_CLIENT_ID, GOOGLE_CLIENT_ID, MICROSOFT_CLIENT_ID or GITHUB_CLIENT_ID',
  OAUTH_AUTO_REDIRECT: null,
};

/** Nullish members count as not sent. */
type Sent<T> = { [Member in keyof T]?: T[Member] | null | undefined };

/**
 * Fixed values may be sent unchanged, but not with another value.
 *
 * @throws config_locked naming the members
 */
function refuseOthers(fixed: object, sent: object): void {
  const known = fixed as Record<string, unknown>;
  const others = Object.entries(sent).filter(
    ([name, value]) => name in known && value !== undefined && value !== null && value !== known[name],
  );
  const [first] = others;
  if (!first) return;
  const reasons = others.map(([path]) => ({ path, message: reasonOf(path) }));
  throw new AppError('config_locked', {
    detail: `${first[0]} ${reasonOf(first[0])}. Leave it as it is, or change the environment of the server.`,
    issues: reasons,
  });
}

const reasonOf = (member: string): string => {
  const variable = VARIABLES[member];
  return variable === null
    ? 'has no other value in this version'
    : `comes from the environment variable ${variable ?? member}`;
};

export const ldapState = ({ directory }: Scope) => ({ ENABLE_LDAP: directory !== null });

/** Returns the state if it equals the requested state. @throws config_locked */
export function setLdapState(scope: Scope, { enable_ldap }: { enable_ldap?: boolean | null | undefined }) {
  const state = ldapState(scope);
  refuseOthers(state, { ENABLE_LDAP: enable_ldap });
  return state;
}

export const ldapServer = ({ methods }: Scope): LdapServer => methods.ldap;

/** As `setLdapState`. @throws config_locked */
export function setLdapServer(scope: Scope, sent: Sent<LdapServer>): LdapServer {
  const { label, ciphers, ...others } = sent;
  refuseOthers(scope.methods.ldap, others);
  return scope.methods.ldap;
}

const NAMES = Object.keys(oauthSettings) as (keyof typeof oauthSettings)[];
const pathOf = (name: string) => NAMED_VARIABLES[name] ?? name;
const shown = (value: unknown) => (Array.isArray(value) ? value.join(', ') : value);
const listOf = (text: string) =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** Provider sign-in settings, from the configuration and the environment. */
export function oauthSettingsOf(scope: Scope): OAuthSettings {
  const configuration = exportConfiguration(scope);
  const settings = NAMES.map((name) => [name, shown(valueAt(configuration, pathOf(name)))]);
  return { ...scope.methods.oauth, ...Object.fromEntries(settings) };
}

/**
 * Replaces the configuration settings that are sent; they apply at once. @throws validation, config_locked
 */
export async function setOAuthSettings(scope: Scope, sent: Sent<OAuthSettings>): Promise<OAuthSettings> {
  refuseOthers(scope.methods.oauth, sent);
  const given = NAMES.flatMap((name) => {
    const value = sent[name];
    if (value === undefined || value === null) return [];
    return [{ path: pathOf(name), value: typeof value === 'string' ? listOf(value) : value }];
  });
  if (given.length > 0) await changeSettings(scope, given);
  return oauthSettingsOf(scope);
}
