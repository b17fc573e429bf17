import { z } from 'zod';
import type { Scope } from '../../core/scope.ts';
import { MAX_UPLOAD_BYTES } from '../../files/files.terms.ts';
import { isStatusEnabled } from '../configs.kept.ts';

export const AnonymousFeatures = z.object({
  auth: z.literal(true),
  auth_trusted_header: z.literal(false),
  enable_signup_password_confirmation: z.literal(false),
  enable_ldap: z.boolean(),
  enable_api_keys: z.boolean(),
  enable_signup: z.boolean(),
  enable_login_form: z.boolean(),
  enable_websocket: z.boolean(),
});

/**
 * Features of comparable systems that this service does not have. Clients read a missing member as switched on, so each is named
 * and false until the feature exists.
 */
const ABSENT = [
  ...['enable_notes', 'enable_folders', 'enable_memories', 'enable_functions', 'enable_subagents'],
  ...['enable_tool_servers', 'enable_terminal_servers', 'enable_direct_integrations'],
  ...['enable_admin_export', 'enable_admin_chat_access', 'enable_admin_analytics'],
  ...['enable_encrypted_channels', 'enable_apps', 'enable_calendar', 'enable_automations'],
  ...['enable_context_compaction', 'enable_tool_permissions'],
  ...['enable_web_search', 'enable_web_search_confirmation', 'enable_image_generation'],
  ...['enable_code_execution', 'enable_code_interpreter', 'enable_pyodide_file_persistence'],
  ...['enable_autocomplete_generation', 'enable_title_generation', 'enable_follow_up_generation'],
  ...['enable_tags_generation', 'enable_google_drive_integration', 'enable_onedrive_integration'],
  ...['enable_version_update_check', 'enable_public_active_users_count', 'enable_easter_eggs'],
] as const;
const absent = <V>(value: V) =>
  Object.fromEntries(ABSENT.map((name) => [name, value])) as Record<(typeof ABSENT)[number], V>;

export const MemberFeatures = z.object({
  enable_channels: z.boolean(),
  enable_plugins: z.literal(true),
  enable_tools: z.literal(true),
  enable_password_change_form: z.literal(true),
  folder_max_file_count: z.string(),
  enable_direct_connections: z.boolean(),
  enable_community_sharing: z.boolean(),
  enable_message_rating: z.boolean(),
  enable_user_webhooks: z.boolean(),
  enable_user_status: z.boolean(),
  enable_web_push: z.boolean(),
  ...absent(z.literal(false)),
});

/** Further members that clients read: limits of uploads, and engines, which are empty where the server has none. */
export const Abilities = z.object({
  file: z.object({
    /** Of one upload, in MiB. */
    max_size: z.number(),
    max_count: z.null(),
    image_compression: z.object({ width: z.null(), height: z.null() }),
  }),
  audio: z.object({
    realtime: z.object({ enabled: z.literal(false), model: z.string(), voice: z.string() }),
    tts: z.object({ engine: z.string(), voice: z.string(), split_on: z.string() }),
    /** `web`: the browser transcribes. */
    stt: z.object({ engine: z.string() }),
  }),
  code: z.object({ engine: z.string(), interpreter_engine: z.string() }),
});

export function anonymousFeatures({
  configs,
  directory,
}: Pick<Scope<null>, 'configs' | 'directory'>): z.infer<typeof AnonymousFeatures> {
  const { ui, auth } = configs.current;
  return {
    auth: true,
    auth_trusted_header: false,
    enable_signup_password_confirmation: false,
    enable_ldap: directory !== null,
    enable_api_keys: auth.enable_api_keys,
    enable_signup: ui.enable_signup,
    enable_login_form: ui.ENABLE_LOGIN_FORM,
    enable_websocket: configs.hasEventDoors,
  };
}

export function memberFeatures({
  configs,
  webhooks,
}: Pick<Scope<null>, 'configs' | 'webhooks'>): z.infer<typeof MemberFeatures> {
  const { ui, channels, folders, direct } = configs.current;
  return {
    ...absent(false),
    enable_channels: channels.enable,
    enable_plugins: true,
    enable_tools: true,
    enable_password_change_form: true,
    folder_max_file_count: folders.max_file_count,
    enable_direct_connections: direct.enable,
    enable_community_sharing: ui.enable_community_sharing,
    enable_message_rating: ui.enable_message_rating,
    enable_user_webhooks: ui.enable_user_webhooks,
    enable_user_status: isStatusEnabled(configs.current),
    enable_web_push: webhooks.push !== null,
  };
}

export const abilities = ({ configs }: Pick<Scope<null>, 'configs'>): z.infer<typeof Abilities> => ({
  file: {
    max_size: (configs.current.files?.max_size ?? MAX_UPLOAD_BYTES) / 2 ** 20,
    max_count: null,
    image_compression: { width: null, height: null },
  },
  audio: {
    realtime: { enabled: false, model: '', voice: '' },
    tts: { engine: '', voice: '', split_on: 'punctuation' },
    stt: { engine: 'web' },
  },
  code: { engine: '', interpreter_engine: '' },
});
