import { z } from 'zod';
import { decodePicture } from '../core/pictures.ts';
import { emptiable } from '../core/schema/nulls.ts';
import { clients, defineTerms, kept, server } from '../core/terms.ts';
import { name, shownName, httpUrl as url } from '../core/wire.ts';

/* The sections of the service reference that belong to no noun here, or to none yet. */

const flag = z.boolean();
const freeObject = z.record(z.string(), z.unknown());

export const Banner = z.looseObject({
  id: name(),
  type: name(),
  title: z.string().optional(),
  content: z.string(),
  dismissible: flag,
  timestamp: z.int(),
});

/** A prompt that clients offer: a title of one or two lines, and the text of the prompt. */
export const PromptSuggestion = z.looseObject({ title: z.array(z.string()), content: z.string() });

export const ToolServer = z.looseObject({
  url,
  path: z.string(),
  type: z.enum(['openapi', 'mcp']).default('openapi'),
  auth_type: z.string().nullable().default(null),
  headers: emptiable(freeObject),
  key: z.string().nullable().default(null),
  config: freeObject.nullable().default(null),
});

export const DEFAULT_NAME = 'Parley';
const NAME_CHARACTERS = 64;

const PATH_CHARACTERS = 2_048;
/** Smaller than for other pictures: every page load gets the logo with the configuration. */
const LOGO_BYTES = 64 * 1024;

/** A path of this server: neither another host (`//host`) nor a path that browsers read as another host. */
const isOwnPath = (value: string) =>
  value.length <= PATH_CHARACTERS && /^\/(?!\/)[^\s\\\p{Cc}]*$/u.test(value);
const isLogo = (value: string) => {
  const bytes = decodePicture(value)?.bytes.length ?? LOGO_BYTES + 1;
  return value === '' || isOwnPath(value) || bytes <= LOGO_BYTES;
};
const logo = z
  .string()
  .refine(
    isLogo,
    `must be empty, a path of this server, or a data URI of a PNG, JPEG, GIF or WebP picture of at most ${LOGO_BYTES} bytes`,
  );
const color = z.string().regex(/^(#[0-9a-f]{6})?$/i, 'must be a colour such as #3366cc, or empty');

export const terms = defineTerms({
  sections: {
    ui: {
      schema: z.looseObject({
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
        // Optional: exports of older versions and of other systems lack them.
        pending_user_overlay_title: z.string().nullable().optional(),
        pending_user_overlay_content: z.string().nullable().optional(),
      }),
      defaults: {
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
        pending_user_overlay_title: '',
        pending_user_overlay_content: '',
      },
      settings: {
        enable_signup: server('People may make their own accounts'),
        ENABLE_LOGIN_FORM: server('Sign-in and sign-up by password'),
        default_locale: clients('Language of the interface until a person chooses one'),
        default_models: clients('Models that are chosen at first, comma-separated'),
        default_pinned_models: clients('Models that are pinned at first, comma-separated'),
        model_order_list: server('Order of the models in lists; others follow by name'),
        prompt_suggestions: clients('Suggestions for a first prompt'),
        default_user_role: server('Role of new accounts but the first'),
        default_group_id: server('Id of the group that new accounts are put into'),
        watermark: clients('Text that clients add to copied answers'),
        enable_community_sharing: clients('Clients offer to share with a community'),
        enable_message_rating: clients('Clients offer to rate answers'),
        enable_user_webhooks: server('People may be notified at an address of their own'),
        banners: clients('Notices at the top of the interface'),
        pending_user_overlay_title: clients(
          'Title of the page for accounts that wait; empty for the built-in one',
        ),
        pending_user_overlay_content: clients(
          'Text of the page for accounts that wait; empty for the built-in one',
        ),
      },
    },
    tool_server: {
      schema: z.looseObject({ connections: z.array(ToolServer) }),
      defaults: { connections: [] },
      settings: { connections: kept('Servers of tools, by OpenAPI or MCP') },
    },
    terminal_server: {
      schema: z.looseObject({ connections: z.array(freeObject) }),
      defaults: { connections: [] },
      settings: { connections: kept('Servers of terminals') },
    },
    direct: {
      schema: z.looseObject({ enable: flag }),
      defaults: { enable: false },
      settings: { enable: clients('Clients may connect to model servers of their own') },
    },
    webui: {
      schema: z.looseObject({
        url: z.union([url, z.literal('')]),
        // Optional: exports of older versions and of other systems lack them.
        name: shownName(NAME_CHARACTERS).optional(),
        logo: logo.optional(),
        color: color.optional(),
      }),
      defaults: { url: '', name: DEFAULT_NAME, logo: '', color: '' },
      settings: {
        url: server('Address of the interface, for links'),
        name: clients('Name of the installation, which the interface shows'),
        logo: clients(
          'Picture beside the name: a path of this server or a data URI; empty for the one that is built in',
        ),
        color: clients('Accent colour of the interface, as `#rrggbb`; empty for the one that is built in'),
      },
    },
    folders: {
      schema: z.looseObject({ enable: flag, max_file_count: z.string() }),
      defaults: { enable: true, max_file_count: '' },
      settings: {
        enable: kept('Folders, which this version does not have'),
        max_file_count: clients('How many files a folder may hold; empty for any number'),
      },
    },
    notes: {
      schema: z.looseObject({ enable: flag }),
      defaults: { enable: true },
      settings: { enable: kept('Notes, which this version does not have') },
    },
    webhook_url: {
      schema: z.union([url, z.literal('')]),
      defaults: '',
      settings: { '': server('Address that is told of new accounts') },
    },
  },
});
