import { isDeepStrictEqual } from 'node:util';
import { Migration } from '@mikro-orm/migrations';

type Tree = Record<string, unknown>;

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The defaults of the versions that stored whole configurations; no released version had others. */
const DEFAULTS: Tree = {
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
  user: {
    permissions: {
      workspace: {
        models: false,
        knowledge: false,
        prompts: false,
        tools: false,
        skills: false,
        models_import: false,
        models_export: false,
        prompts_import: false,
        prompts_export: false,
        tools_import: false,
        tools_export: false,
      },
      sharing: {
        models: false,
        public_models: false,
        knowledge: false,
        public_knowledge: false,
        prompts: false,
        public_prompts: false,
        tools: false,
        public_tools: false,
        skills: false,
        public_skills: false,
        notes: false,
        public_notes: false,
        public_channels: false,
      },
      access_grants: { allow_users: true },
      chat: {
        controls: true,
        valves: true,
        system_prompt: true,
        params: true,
        file_upload: true,
        web_upload: true,
        delete: true,
        delete_message: true,
        continue_response: true,
        regenerate_response: true,
        rate_response: true,
        edit: true,
        share: true,
        export: true,
        stt: true,
        tts: true,
        call: true,
        multiple_models: true,
        temporary: true,
        temporary_enforced: false,
      },
      features: {
        api_keys: false,
        notes: true,
        folders: true,
        channels: true,
        direct_tool_servers: false,
        web_search: true,
        image_generation: true,
        code_interpreter: true,
        memories: true,
      },
      settings: { interface: true },
    },
  },
  folders: { enable: true, max_file_count: '' },
  files: { max_size: 104857600, show_external_pictures: false },
  tools: { install_requirements: false },
  limits: {
    password_min_length: 8,
    signups_per_hour: 60,
    failed_signins: 30,
    password_changes: 5,
    messages_per_minute: 0,
    uploads_per_hour: 0,
    storage_bytes: 0,
    groups: {},
  },
  channels: { enable: true },
  notes: { enable: true },
  webhook_url: '',
};

/**
 * What administrators have set is stored, no longer the whole configuration. A stored member that equals its default counts as not
 * set: of the older versions, which stored every default at their first start, the two cannot be told apart.
 */
export class Migration20261122190000_overrides extends Migration {
  override name = 'Migration20261122190000_overrides';

  override async up(): Promise<void> {
    await this.execute(`alter table "config" add "origins" jsonb not null default '{}'`);
    await this.rewrite((data) => withoutDefaults(data, DEFAULTS));
  }

  override async down(): Promise<void> {
    await this.rewrite((data) => withDefaults(data, DEFAULTS));
    await this.execute(`alter table "config" drop column "origins"`);
  }

  /** The history holds at most 100 configurations, of some megabytes at the most: one at a time. */
  private async rewrite(change: (data: Tree) => Tree): Promise<void> {
    for (const table of ['config', 'config_history']) {
      const ids = await this.execute(`select id::text from ${table}`);
      for (const { id } of ids as { id: string }[]) {
        const [row] = await this.execute(`select data::text from ${table} where id::text = ?`, [id]);
        const data = change(JSON.parse((row as { data: string }).data) as Tree);
        await this.execute(`update ${table} set data = ?::jsonb where id::text = ?`, [
          JSON.stringify(data),
          id,
        ]);
      }
    }
  }
}

function withoutDefaults(tree: Tree, defaults: Tree): Tree {
  const members = Object.entries(tree).flatMap(([name, value]) => {
    if (!Object.hasOwn(defaults, name)) return [[name, value] as const];
    const initial = defaults[name];
    if (isDeepStrictEqual(value, initial)) return [];
    const isSection = isTree(initial) && Object.keys(initial).length > 0;
    return [[name, isSection && isTree(value) ? withoutDefaults(value, initial) : value] as const];
  });
  return Object.fromEntries(members);
}

function withDefaults(tree: Tree, defaults: Tree): Tree {
  const filled = Object.entries(defaults).map(([name, initial]) => {
    const value = Object.hasOwn(tree, name) ? tree[name] : initial;
    return [name, isTree(value) && isTree(initial) ? withDefaults(value, initial) : value] as const;
  });
  return { ...tree, ...Object.fromEntries(filled) };
}
