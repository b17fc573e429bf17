import { z } from 'zod';
import { Banner, duration, PromptSuggestion, ToolServer } from './configs.schema.ts';

/*
 * Parts of the configuration as clients of comparable systems know them: flat, under names of their own. `PATHS` has the setting
 * that each is.
 */

const flag = z.boolean();
const freeForm = z.record(z.string(), z.unknown());

/** Members that are optional stay as they are when they are not sent. */
export const AdminSettings = z
  .object({
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
  })
  .meta({ id: 'AdminSettings' });

export const ConnectionSettings = z
  .object({ ENABLE_DIRECT_CONNECTIONS: flag, ENABLE_BASE_MODELS_CACHE: flag })
  .meta({ id: 'ConnectionSettings' });

export const ModelSettings = z
  .object({
    DEFAULT_MODELS: z.string().nullable(),
    DEFAULT_PINNED_MODELS: z.string().nullish(),
    MODEL_ORDER_LIST: z.array(z.string()).nullable(),
    DEFAULT_MODEL_METADATA: freeForm.nullish(),
    DEFAULT_MODEL_PARAMS: freeForm.nullish(),
  })
  .meta({ id: 'ModelSettings' });

export const ToolServerSettings = z
  .object({ TOOL_SERVER_CONNECTIONS: z.array(ToolServer) })
  .meta({ id: 'ToolServerSettings' });

export const TerminalServerSettings = z
  .object({ TERMINAL_SERVER_CONNECTIONS: z.array(freeForm) })
  .meta({ id: 'TerminalServerSettings' });

export const SuggestionSettings = z.object({ suggestions: z.array(PromptSuggestion) });
export const BannerSettings = z.object({ banners: z.array(Banner) });
export const WebhookSettings = z.object({ url: z.string() }).meta({ id: 'WebhookSettings' });
