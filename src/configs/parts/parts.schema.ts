import { z } from 'zod';
import { duration } from '../../auth/auth.terms.ts';
import { emptiable } from '../../core/schema/nulls.ts';
import { Visibility } from '../configs.kept.ts';
import { Banner, PromptSuggestion, ToolServer } from '../configs.terms.ts';
import { ConfigurationFault } from '../settings/configs.schema.ts';

/*
 * Parts of the configuration in the form that clients of comparable systems know: flat, with other names. `PATHS` maps each member
 * to its setting.
 */

/**
 * The schemas of a part in a request and in an answer.
 *
 * @param absent switches and limits of features that this service does not have, with the values of the answer: clients show a missing
 *   switch as on, and some require these members. They are not settings: values that callers send for them are ignored
 */
const part = <S extends z.ZodRawShape>(
  id: string,
  shape: S,
  absent: Readonly<Record<string, unknown>> = {},
) => ({
  sent: z.object(shape).meta({ id }),
  absent,
  inForce: z
    .object({
      ...shape,
      ...Object.fromEntries(Object.entries(absent).map(([name, value]) => [name, absentMember(value)])),
      /** Stored values that cannot be used: their defaults are in force until the part is replaced. */
      faults: z.array(ConfigurationFault).optional(),
    })
    .meta({ id: `${id}InForce` }),
});

/** Free-form ones are empty objects. */
const absentMember = (value: unknown) =>
  typeof value === 'object' && value !== null
    ? z.record(z.string(), z.unknown())
    : z.literal(value as boolean | string | null);

const flag = z.boolean();
const freeForm = z.record(z.string(), z.unknown());

/**
 * Members of the settings of accounts that other systems have and this service does not. The configuration
 * stores `folders.enable`, `memories.enable` and `notes.enable` for other servers; the form of a client does
 * not change them.
 */
const ABSENT_SETTINGS = {
  ENABLE_FOLDERS: false,
  ENABLE_MEMORIES: false,
  ENABLE_NOTES: false,
  ENABLE_AUTOMATIONS: false,
  AUTOMATION_MAX_COUNT: '',
  AUTOMATION_MIN_INTERVAL: '',
  ENABLE_CALENDAR: false,
  ENABLE_MEMORY_SYSTEM_CONTEXT: false,
  ENABLE_ENCRYPTED_CHANNELS: false,
  ENABLE_APPS: false,
  CHANNEL_MODEL_RESPONSE_MODE: 'thread',
  ENABLE_SKILL_LAZY_LOADING: false,
  SKILL_CONTENT_MAX_CHARS: null,
  SKILL_PREVIEW_MAX_CHARS: null,
  DEFAULT_INTERFACE_SETTINGS: {},
  I18N: {},
  ENABLE_MFA: false,
  MFA_ALLOW_OAUTH_BYPASS: false,
  MFA_ALLOW_TRUSTED_HEADER_BYPASS: false,
};

/** Members that are optional stay as they are when they are not sent. */
export const AdminSettings = {
  ...part(
    'AdminSettings',
    {
      SHOW_ADMIN_DETAILS: flag,
      ADMIN_EMAIL: emptiable(z.string()),
      WEBUI_URL: z.string(),
      ENABLE_LOGIN_FORM: emptiable(flag),
      ENABLE_SIGNUP: flag,
      ENABLE_API_KEYS: flag,
      ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: flag,
      API_KEYS_ALLOWED_ENDPOINTS: z.string(),
      DEFAULT_USER_ROLE: z.enum(['pending', 'user', 'admin']),
      DEFAULT_GROUP_ID: z.string(),
      JWT_EXPIRES_IN: duration,
      ENABLE_COMMUNITY_SHARING: flag,
      ENABLE_MESSAGE_RATING: flag,
      FOLDER_MAX_FILE_COUNT: emptiable(z.union([z.string(), z.int().min(0)])),
      ENABLE_CHANNELS: flag,
      ENABLE_USER_WEBHOOKS: flag,
      ENABLE_USER_STATUS: flag,
      PENDING_USER_OVERLAY_TITLE: emptiable(z.string()),
      PENDING_USER_OVERLAY_CONTENT: emptiable(z.string()),
      RESPONSE_WATERMARK: emptiable(z.string()),
    },
    ABSENT_SETTINGS,
  ),
  /** Refused, so that no administrator believes that the feature exists. */
  refused: { ENABLE_MFA: z.literal(false, 'must be false: this version has no second factor').nullish() },
};

export const ConnectionSettings = part('ConnectionSettings', {
  ENABLE_DIRECT_CONNECTIONS: flag,
  ENABLE_BASE_MODELS_CACHE: flag,
});

export const ModelSettings = part('ModelSettings', {
  DEFAULT_MODELS: z.string().nullable(),
  DEFAULT_PINNED_MODELS: emptiable(z.string()),
  MODEL_ORDER_LIST: z.array(z.string()).nullable(),
  DEFAULT_MODEL_METADATA: emptiable(freeForm),
  DEFAULT_MODEL_PARAMS: emptiable(freeForm),
});

export const ToolServerSettings = part('ToolServerSettings', {
  TOOL_SERVER_CONNECTIONS: z.array(ToolServer),
});

export const TerminalServerSettings = part('TerminalServerSettings', {
  TERMINAL_SERVER_CONNECTIONS: z.array(freeForm),
});

export const SuggestionSettings = z.object({ suggestions: z.array(PromptSuggestion) });
export const BannerSettings = z.object({ banners: z.array(Banner) });
export const VisibilitySettings = z.object({ visibility: Visibility });
export const WebhookSettings = part('WebhookSettings', {
  url: z.string().meta({ pattern: '^(https?://.*)?$' }),
});
