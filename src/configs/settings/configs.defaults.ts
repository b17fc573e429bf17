import type { Configuration } from './configs.schema.ts';
import { DEFAULT_PERMISSIONS } from './permissions.schema.ts';

/** Number of the configuration's schema; grows when an older export needs upgrading. */
export const CONFIG_VERSION = 1;

/** The largest upload unless the configuration says otherwise. */
export const MAX_UPLOAD_BYTES = 100 * 1024 * 1024;

/** Limits that the service reference does not have; 0 is no limit. */
export const DEFAULT_LIMITS = {
  password_min_length: 8,
  signups_per_hour: 60,
  failed_signins: 30,
  password_changes: 5,
  messages_per_minute: 0,
  uploads_per_hour: 0,
  storage_bytes: 0,
  groups: {},
};

/** What a new installation begins with. */
export const DEFAULT_CONFIGURATION: Configuration = {
  version: CONFIG_VERSION,
  ui: {
    enable_signup: true,
    ENABLE_LOGIN_FORM: true,
    default_locale: '',
    default_models: null,
    default_pinned_models: null,
    model_order_list: [],
    prompt_suggestions: [],
    default_user_role: 'pending',
    default_group_id: '',
    watermark: '',
    enable_community_sharing: false,
    enable_message_rating: true,
    enable_user_webhooks: false,
    banners: [],
  },
  auth: {
    enable_api_keys: false,
    api_key: { endpoint_restrictions: false, allowed_endpoints: '' },
    jwt_expiry: '4w',
    admin: { show: true, email: null },
  },
  oauth: {
    enable_signup: false,
    merge_accounts_by_email: false,
    enable_role_mapping: false,
    enable_group_mapping: false,
    enable_group_creation: false,
    update_picture_on_login: false,
    update_name_on_login: false,
    update_email_on_login: false,
    allowed_domains: ['*'],
  },
  local_model_server: { enable: false, base_urls: [], api_configs: {} },
  hosted_model_api: { enable: false, api_keys: [], api_base_urls: [], api_configs: {} },
  models: { base_models_cache: true, default_metadata: {}, default_params: {} },
  tool_server: { connections: [] },
  terminal_server: { connections: [] },
  direct: { enable: false },
  webui: { url: '' },
  user: { permissions: structuredClone(DEFAULT_PERMISSIONS) },
  folders: { enable: true, max_file_count: '' },
  files: { max_size: MAX_UPLOAD_BYTES, show_external_pictures: false },
  tools: { install_requirements: false },
  limits: DEFAULT_LIMITS,
  channels: { enable: true },
  notes: { enable: true },
  webhook_url: '',
};
