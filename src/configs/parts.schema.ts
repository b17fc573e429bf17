import { z } from 'zod';
import { ConfigurationFault } from './configs.mend.ts';
import { Banner, duration, PromptSuggestion, ToolServer } from './configs.schema.ts';

/*
 * Parts of the configuration as clients of comparable systems know them: flat, under names of their own. `PATHS` has the setting
 * that each is.
 */

/** A part as it is sent, and as it is answered. */
const part = <S extends z.ZodRawShape>(id: string, shape: S) => ({
  sent: z.object(shape).meta({ id }),
  inForce: z
    .object({
      ...shape,
      /** What is stored of it and cannot be used: the defaults are in force, until the part is replaced. */
      faults: z.array(ConfigurationFault).optional(),
    })
    .meta({ id: `${id}InForce` }),
});

const flag = z.boolean();
const freeForm = z.record(z.string(), z.unknown());

/** Members that are optional stay as they are when they are not sent. */
export const AdminSettings = part('AdminSettings', {
  SHOW_ADMIN_DETAILS: flag,
  ADMIN_EMAIL: z.string().nullish(),
  WEBUI_URL: z.string(),
  ENABLE_SIGNUP: flag,
  ENABLE_API_KEYS: flag,
  ENABLE_API_KEYS_ENDPOINT_RESTRICTIONS: flag,
  API_KEYS_ALLOWED_ENDPOINTS: z.string(),
  DEFAULT_USER_ROLE: z.enum(['pending', 'user', 'admin']),
  DEFAULT_GROUP_ID: z.string(),
  JWT_EXPIRES_IN: duration,
  ENABLE_COMMUNITY_SHARING: flag,
  ENABLE_MESSAGE_RATING: flag,
  ENABLE_FOLDERS: flag,
  FOLDER_MAX_FILE_COUNT: z.union([z.string(), z.int().min(0)]).nullish(),
  ENABLE_CHANNELS: flag,
  ENABLE_MEMORIES: flag,
  ENABLE_NOTES: flag,
  ENABLE_USER_WEBHOOKS: flag,
  ENABLE_USER_STATUS: flag,
  PENDING_USER_OVERLAY_TITLE: z.string().nullish(),
  PENDING_USER_OVERLAY_CONTENT: z.string().nullish(),
  RESPONSE_WATERMARK: z.string().nullish(),
});

export const ConnectionSettings = part('ConnectionSettings', {
  ENABLE_DIRECT_CONNECTIONS: flag,
  ENABLE_BASE_MODELS_CACHE: flag,
});

export const ModelSettings = part('ModelSettings', {
  DEFAULT_MODELS: z.string().nullable(),
  DEFAULT_PINNED_MODELS: z.string().nullish(),
  MODEL_ORDER_LIST: z.array(z.string()).nullable(),
  DEFAULT_MODEL_METADATA: freeForm.nullish(),
  DEFAULT_MODEL_PARAMS: freeForm.nullish(),
});

export const ToolServerSettings = part('ToolServerSettings', {
  TOOL_SERVER_CONNECTIONS: z.array(ToolServer),
});

export const TerminalServerSettings = part('TerminalServerSettings', {
  TERMINAL_SERVER_CONNECTIONS: z.array(freeForm),
});

export const SuggestionSettings = z.object({ suggestions: z.array(PromptSuggestion) });
export const BannerSettings = z.object({ banners: z.array(Banner) });
export const WebhookSettings = part('WebhookSettings', { url: z.string() });
