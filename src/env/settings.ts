/**
 * Environment variables that pin a setting, under the names that comparable systems give them, so that an existing
 * deployment file works here. Every other setting is pinned as `PARLEY_CONFIG__<section>__<member>`.
 */
export const NAMED_VARIABLES: Readonly<Record<string, string>> = {
  ENABLE_SIGNUP: 'ui.enable_signup',
  ENABLE_LOGIN_FORM: 'ui.ENABLE_LOGIN_FORM',
  DEFAULT_LOCALE: 'ui.default_locale',
  DEFAULT_MODELS: 'ui.default_models',
  DEFAULT_PINNED_MODELS: 'ui.default_pinned_models',
  DEFAULT_PROMPT_SUGGESTIONS: 'ui.prompt_suggestions',
  DEFAULT_USER_ROLE: 'ui.default_user_role',
  DEFAULT_GROUP_ID: 'ui.default_group_id',
  RESPONSE_WATERMARK: 'ui.watermark',
  ENABLE_COMMUNITY_SHARING: 'ui.enable_community_sharing',
  ENABLE_MESSAGE_RATING: 'ui.enable_message_rating',
  ENABLE_USER_WEBHOOKS: 'ui.enable_user_webhooks',
  WEBUI_BANNERS: 'ui.banners',
  ENABLE_API_KEYS: 'auth.enable_api_keys',
  ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: 'auth.api_key.endpoint_restrictions',
  API_KEYS_ALLOWED_ENDPOINTS: 'auth.api_key.allowed_endpoints',
  JWT_EXPIRES_IN: 'auth.jwt_expiry',
  SHOW_ADMIN_DETAILS: 'auth.admin.show',
  ADMIN_EMAIL: 'auth.admin.email',
  ENABLE_OAUTH_SIGNUP: 'oauth.enable_signup',
  OAUTH_MERGE_ACCOUNTS_BY_EMAIL: 'oauth.merge_accounts_by_email',
  ENABLE_OAUTH_ROLE_MANAGEMENT: 'oauth.enable_role_mapping',
  ENABLE_OAUTH_GROUP_MANAGEMENT: 'oauth.enable_group_mapping',
  ENABLE_OAUTH_GROUP_CREATION: 'oauth.enable_group_creation',
  OAUTH_UPDATE_PICTURE_ON_LOGIN: 'oauth.update_picture_on_login',
  OAUTH_UPDATE_NAME_ON_LOGIN: 'oauth.update_name_on_login',
  OAUTH_UPDATE_EMAIL_ON_LOGIN: 'oauth.update_email_on_login',
  OAUTH_ALLOWED_DOMAINS: 'oauth.allowed_domains',
  ENABLE_OLLAMA_API: 'local_model_server.enable',
  OLLAMA_BASE_URLS: 'local_model_server.base_urls',
  ENABLE_OPENAI_API: 'hosted_model_api.enable',
  OPENAI_API_KEYS: 'hosted_model_api.api_keys',
  OPENAI_API_BASE_URLS: 'hosted_model_api.api_base_urls',
  ENABLE_BASE_MODELS_CACHE: 'models.base_models_cache',
  TOOL_SERVER_CONNECTIONS: 'tool_server.connections',
  TERMINAL_SERVER_CONNECTIONS: 'terminal_server.connections',
  ENABLE_DIRECT_CONNECTIONS: 'direct.enable',
  WEBUI_URL: 'webui.url',
  WEBUI_NAME: 'webui.name',
  WEBUI_LOGO: 'webui.logo',
  WEBUI_COLOR: 'webui.color',
  ENABLE_FOLDERS: 'folders.enable',
  FOLDER_MAX_FILE_COUNT: 'folders.max_file_count',
  ENABLE_PIP_INSTALL_FRONTMATTER_REQUIREMENTS: 'tools.install_requirements',
  ENABLE_CHANNELS: 'channels.enable',
  ENABLE_NOTES: 'notes.enable',
  WEBHOOK_URL: 'webhook_url',
};

/** The prefix of variables that pin any setting; `__` stands for the dots of its path. */
export const VARIABLE_PREFIX = 'PARLEY_CONFIG__';

/** The variables of an environment that pin settings, as text. */
export function settingVariables(
  source: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const pinning = ([name, value]: [string, string | undefined]) =>
    value !== undefined && (Object.hasOwn(NAMED_VARIABLES, name) || name.startsWith(VARIABLE_PREFIX));
  return Object.fromEntries(Object.entries(source).filter(pinning)) as Record<string, string>;
}
