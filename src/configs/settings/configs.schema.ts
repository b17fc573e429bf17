import { z } from 'zod';
import { parseDuration } from '../../core/duration.ts';
import { emptiable } from '../../core/nulls.ts';
import { freeForm, LIMITS, name } from '../../core/wire.ts';
import { PermissionTree } from './permissions.schema.ts';

/**
 * The configuration object of the service reference, whole. Every member that the reference lists is required; members
 * that this service does not know are kept, so that an export of another system loses nothing here.
 */

const url = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const flag = z.boolean();
const freeObject = z.record(z.string(), z.unknown());

const SHORTEST_MS = 1_000;
const LONGEST_MS = 100 * 365 * 86_400_000;

/** `-1` or `0`: never; else numbers with units, as in `4w` or `1d12h`, of a second to a century together. */
export const duration = z
  .string()
  .regex(
    /^(-1|0|(\d+(\.\d+)?(ms|s|m|h|d|w))+)$/,
    'must be -1, 0, or numbers with a unit (ms, s, m, h, d, w), such as 4w',
  )
  .refine((text) => {
    const ms = parseDuration(text);
    return ms === null || (ms >= SHORTEST_MS && ms <= LONGEST_MS);
  }, 'must be between one second and a hundred years, or -1');

export const Banner = z.looseObject({
  id: name(),
  type: name(),
  title: z.string().optional(),
  content: z.string(),
  dismissible: flag,
  timestamp: z.int(),
});

/** A prompt that clients offer: a title of one or two lines, and the text that it stands for. */
export const PromptSuggestion = z.looseObject({ title: z.array(z.string()), content: z.string() });

const Ui = z.looseObject({
  enable_signup: flag,
  ENABLE_LOGIN_FORM: flag,
  default_locale: z.string(),
  default_models: z.string().nullable(),
  default_pinned_models: z.string().nullable(),
  model_order_list: z.array(z.string()),
  prompt_suggestions: z.array(PromptSuggestion),
  default_user_role: z.enum(['admin', 'user', 'pending']),
  default_group_id: z.string(),
  watermark: z.string(),
  enable_community_sharing: flag,
  enable_message_rating: flag,
  enable_user_webhooks: flag,
  banners: z.array(Banner),
});

const Auth = z.looseObject({
  enable_api_keys: flag,
  api_key: z.looseObject({ endpoint_restrictions: flag, allowed_endpoints: z.string() }),
  jwt_expiry: duration,
  admin: z.looseObject({ show: flag, email: z.string().nullable() }),
});

const OAuth = z.looseObject({
  enable_signup: flag,
  merge_accounts_by_email: flag,
  enable_role_mapping: flag,
  enable_group_mapping: flag,
  enable_group_creation: flag,
  update_picture_on_login: flag,
  update_name_on_login: flag,
  update_email_on_login: flag,
  allowed_domains: z.array(z.string()),
});

export const ToolServer = z.looseObject({
  url,
  path: z.string(),
  type: z.enum(['openapi', 'mcp']).default('openapi'),
  auth_type: z.string().nullable().default(null),
  headers: emptiable(freeObject),
  key: z.string().nullable().default(null),
  config: freeObject.nullable().default(null),
});

const count = z.int().min(0);

/** What one person may do; 0 is no limit. */
const PersonLimits = z.looseObject({
  messages_per_minute: count,
  uploads_per_hour: count,
  storage_bytes: count,
});

/** The limits that the service reference does not have. All may be left out, for their defaults. */
const Limits = PersonLimits.extend({
  password_min_length: z.int().min(1).max(128),
  signups_per_hour: count,
  failed_signins: count,
  password_changes: count,
  /** By the id of a group: what its people may instead. */
  groups: z.record(z.string(), PersonLimits.partial()),
}).partial();

export const Configuration = z
  .looseObject({
    version: z.int().min(0),
    ui: Ui,
    auth: Auth,
    oauth: OAuth,
    local_model_server: z.looseObject({ enable: flag, base_urls: z.array(url), api_configs: freeObject }),
    hosted_model_api: z.looseObject({
      enable: flag,
      api_keys: z.array(z.string()),
      api_base_urls: z.array(url),
      api_configs: freeObject,
    }),
    models: z.looseObject({
      base_models_cache: flag,
      default_metadata: freeObject,
      default_params: freeObject,
    }),
    tool_server: z.looseObject({ connections: z.array(ToolServer) }),
    terminal_server: z.looseObject({ connections: z.array(freeObject) }),
    direct: z.looseObject({ enable: flag }),
    webui: z.looseObject({ url: z.union([url, z.literal('')]) }),
    user: z.looseObject({ permissions: PermissionTree }),
    folders: z.looseObject({ enable: flag, max_file_count: z.string() }),
    // Not of the reference: an export of another system has none.
    files: z
      .looseObject({
        max_size: z.int().min(1024, 'must be a number of bytes, at least 1024'),
        show_external_pictures: flag.optional(),
      })
      .optional(),
    // Likewise.
    tools: z.looseObject({ install_requirements: flag }).optional(),
    // Likewise.
    limits: Limits.optional(),
    channels: z.looseObject({ enable: flag }),
    notes: z.looseObject({ enable: flag }),
    webhook_url: z.union([url, z.literal('')]),
  })
  .superRefine((value, context) => {
    for (const { message } of freeForm(LIMITS.bodyBytes).safeParse(value).error?.issues ?? []) {
      context.addIssue({ code: 'custom', message });
    }
  })
  .meta({ id: 'Configuration' });

export type Configuration = z.infer<typeof Configuration>;

/** A stored value that the schema refuses: the default is in force in its place. */
export const ConfigurationFault = z
  .object({
    /** Dotted: a section, or a setting that the configuration need not hold. */
    path: z.string(),
    /** What is wrong with it; the value is not repeated. */
    message: z.string(),
  })
  .meta({ id: 'ConfigurationFault' });
export type ConfigurationFault = z.infer<typeof ConfigurationFault>;
