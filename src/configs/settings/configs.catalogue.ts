import { SETTINGS } from './configs.settings.ts';

/**
 * Which program acts on a setting: this server; its clients, which get it from `GET /config`; or none here: it is only kept
 * for other components that share the configuration.
 */
type UsedBy = 'server' | 'clients' | 'nobody';

interface Entry {
  used_by: UsedBy;
  /** One sentence without its full stop. */
  meaning: string;
}

const server = (meaning: string): Entry => ({ used_by: 'server', meaning });
const clients = (meaning: string): Entry => ({ used_by: 'clients', meaning });
const nobody = (meaning: string): Entry => ({ used_by: 'nobody', meaning });

/** Permissions that some operation asks for; the others are handed to clients, which hide what is not allowed. */
const ENFORCED = [
  ...['workspace.tools', 'workspace.tools_import', 'workspace.tools_export'],
  ...[
    'sharing.public_tools',
    'sharing.public_channels',
    'access_grants.allow_users',
    'features.api_keys',
    'features.channels',
    'features.direct_tool_servers',
  ],
  'chat.file_upload',
];
const PERMISSIONS = 'user.permissions.';

/** Every setting but the permissions, which are described by their names. `docs/configuration.md` is made from this. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  'ui.enable_signup': server('People may make their own accounts'),
  'ui.ENABLE_LOGIN_FORM': server('Sign-in and sign-up by password'),
  'ui.default_locale': clients('Language of the interface until a person chooses one'),
  'ui.default_models': clients('Models that are chosen at first, comma-separated'),
  'ui.default_pinned_models': clients('Models that are pinned at first, comma-separated'),
  'ui.model_order_list': clients('Order of the models'),
  'ui.prompt_suggestions': clients('Suggestions for a first prompt'),
  'ui.default_user_role': server('Role of new accounts but the first'),
  'ui.default_group_id': server('Id of the group that new accounts are put into'),
  'ui.watermark': clients('Text that clients add to copied answers'),
  'ui.enable_community_sharing': clients('Clients offer to share with a community'),
  'ui.enable_message_rating': clients('Clients offer to rate answers'),
  'ui.enable_user_webhooks': server('People may be notified at an address of their own'),
  'ui.banners': clients('Notices at the top of the interface'),
  'auth.enable_api_keys': server('API keys may be made and used'),
  'auth.api_key.endpoint_restrictions': server('API keys reach only the endpoints of the list'),
  'auth.api_key.allowed_endpoints': server('Path prefixes that API keys may reach, comma-separated'),
  'auth.jwt_expiry': server('How long a sign-in lasts, such as 4w or 12h; -1 for ever'),
  'auth.admin.show': server('Accounts that wait for approval are shown whom to ask'),
  'auth.admin.email': server('Address that they are shown; without it the first administrator’s'),
  'oauth.enable_signup': server('A first sign-in through a provider makes an account'),
  'oauth.merge_accounts_by_email': server(
    'A sign-in through a provider finds the account of the same address',
  ),
  'oauth.enable_role_mapping': server('Roles come from the provider'),
  'oauth.enable_group_mapping': server('Groups come from the provider'),
  'oauth.enable_group_creation': server('Groups that the provider names are created when they do not exist'),
  'oauth.update_picture_on_login': server('The picture is taken from the provider at each sign-in'),
  'oauth.update_name_on_login': server('The name is taken from the provider at each sign-in'),
  'oauth.update_email_on_login': server('The address is taken from the provider at each sign-in'),
  'oauth.allowed_domains': server('Domains of addresses that may sign in through a provider; * for any'),
  'local_model_server.enable': nobody('Models of local servers are offered'),
  'local_model_server.base_urls': nobody('Addresses of local model servers'),
  'local_model_server.api_configs': nobody('Settings of each, by its place in the list or its address'),
  'hosted_model_api.enable': nobody('Models of OpenAI-compatible providers are offered'),
  'hosted_model_api.api_keys': nobody('Keys of the providers, in the order of their addresses'),
  'hosted_model_api.api_base_urls': nobody('Addresses of OpenAI-compatible providers'),
  'hosted_model_api.api_configs': nobody('Settings of each, by its place in the list or its address'),
  'models.base_models_cache': nobody('The list of models is kept between requests'),
  'models.default_metadata': nobody('Metadata of models that have none of their own'),
  'models.default_params': nobody('Parameters of models that have none of their own'),
  'tool_server.connections': nobody('Servers of tools, by OpenAPI or MCP'),
  'terminal_server.connections': nobody('Servers of terminals'),
  'direct.enable': clients('Clients may connect to model servers of their own'),
  'webui.url': server('Address of the interface, for links'),
  'folders.enable': nobody('Folders, which this version does not have'),
  'folders.max_file_count': clients('How many files a folder may hold; empty for any number'),
  'files.max_size': server('The largest upload, in bytes'),
  'files.show_external_pictures': server(
    'Profile pictures at https addresses are shown, by a redirect: the server there sees who looks',
  ),
  'tools.install_requirements': server(
    'Packages that tools name in their frontmatter are installed for them',
  ),
  'limits.password_min_length': server('The fewest characters of a new password; the most are 128'),
  'limits.signups_per_hour': server('Sign-ups from one network in an hour; 0: any number'),
  'limits.failed_signins': server('Failed sign-ins from one network in three minutes; 0: any number'),
  'limits.password_changes': server(
    'Attempts of one account to change its password in three minutes; 0: any number',
  ),
  'limits.messages_per_minute': server('Messages and edits of one person in a minute; 0: any number'),
  'limits.uploads_per_hour': server('Uploads of one person in an hour; 0: any number'),
  'limits.storage_bytes': server(
    'Bytes that the files, messages, tools and picture of one person may take; 0: any number',
  ),
  'limits.groups': server(
    'By group id, other values of the last three for its people; the most generous one holds',
  ),
  'channels.enable': server('Channels'),
  'notes.enable': nobody('Notes, which this version does not have'),
  webhook_url: server('Address that is told of new accounts'),
};

/** What a setting is for; members that the service does not know are kept for others. */
export function describeSetting(path: string): Entry {
  const entry = ENTRIES[path];
  if (entry) return entry;
  if (!path.startsWith(PERMISSIONS)) return nobody('Not known to this service');
  const permission = path.slice(PERMISSIONS.length);
  if (!SETTINGS.includes(path)) return clients(`The permission ${permission}`);
  return ENFORCED.includes(permission)
    ? server(`The permission ${permission}, enforced by the server`)
    : clients(`The permission ${permission}`);
}
