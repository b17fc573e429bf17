/**
 * An invented export of a comparable system after some years of use: hundreds of members, most of them for
 * features that this service does not have; secrets under many names; numbers, texts and nulls where other
 * versions have other types.
 */
const engine = (name: string, more: object = {}) => ({
  engine: name,
  api_base_url: `https://${name}.example.com/v1`,
  api_key: `secret-${name}`,
  ...more,
});
const searchKeys = [
  ...['google_pse', 'brave_search', 'kagi_search', 'mojeek_search', 'bocha_search', 'serpstack', 'serper'],
  ...[
    'serply',
    'tavily',
    'searchapi',
    'serpapi',
    'jina',
    'bing_search',
    'exa',
    'perplexity',
    'firecrawl',
    'external',
  ],
];
const providers = ['google', 'microsoft', 'github', 'oidc', 'feishu'];
const servers = Array.from({ length: 12 }, (_, i) => i);

export const LARGE_EXPORT = {
  version: 0,
  ui: {
    enable_signup: false,
    ENABLE_LOGIN_FORM: true,
    default_locale: 'de-DE',
    default_models: 'gpt-4o,llama3.2:latest',
    default_pinned_models: null,
    model_order_list: servers.map((i) => `model-${i}`),
    prompt_suggestions: [
      { title: ['Hilf mir', 'beim Lernen'], content: 'Frag mich Vokabeln ab: „Überraschung“ 🎉' },
      { title: ['Tell me', ''], content: 'A fact.\nIn two lines.' },
    ],
    default_user_role: 'pending',
    default_group_id: '',
    pending_user_overlay_title: '',
    pending_user_overlay_content: 'Bitte <b>warten</b>.',
    watermark: null,
    enable_community_sharing: true,
    enable_message_rating: true,
    enable_user_webhooks: false,
    banners: [
      {
        id: 'b1',
        type: 'info',
        title: null,
        content: 'Neu hier?',
        dismissible: true,
        timestamp: 1_741_000_000,
      },
      {
        id: 'b2',
        type: 'error',
        title: 'Ausfall',
        content: '…',
        dismissible: false,
        timestamp: 1_742_000_000,
      },
    ],
  },
  auth: {
    admin: { show: true, email: 'it@example.com' },
    api_key: { endpoint_restrictions: false, allowed_endpoints: '' },
    enable_api_keys: true,
    jwt_expiry: '-1',
  },
  ollama: {
    enable: true,
    base_urls: servers.map((i) => `http://gpu-${i}.internal:11434`),
    api_configs: Object.fromEntries(
      servers.map((i) => [
        i,
        { enable: i % 2 === 0, key: `secret-ollama-${i}`, prefix_id: '', model_ids: [], tags: [] },
      ]),
    ),
  },
  openai: {
    enable: true,
    api_base_urls: servers.map((i) => `https://provider-${i}.example.com/v1`),
    api_keys: servers.map((i) => (i === 3 ? '' : `secret-openai-${i}`)),
    api_configs: Object.fromEntries(
      servers.map((i) => [
        i,
        {
          enable: true,
          tags: [{ name: `t${i}` }],
          headers: { 'X-Team': `secret-team-${i}` },
          connection_type: 'external',
        },
      ]),
    ),
  },
  models: {
    base_models_cache: true,
    default_metadata: null,
    default_params: { temperature: 0.7, stop: null },
  },
  direct: { enable: true },
  webui: { url: 'https://chat.example.com' },
  webhook_url: '',
  tool_server: {
    connections: [
      {
        url: 'https://time.example.com',
        path: 'openapi.json',
        auth_type: 'bearer',
        key: 'secret-time',
        config: { enable: true },
      },
      {
        ...{ url: 'https://mcp.example.com/mcp', path: '', type: 'mcp', auth_type: 'oauth_2.1', key: null },
        ...{ headers: '{"X-Tenant": "secret-tenant"}', config: null, info: { id: 'mcp', name: 'MCP' } },
      },
      { url: 'https://bare.example.com', path: 'openapi.json', key: '', config: {}, headers: '' },
    ],
  },
  terminal_server: {
    connections: [{ id: 't1', url: 'https://term.example.com', key: 'secret-terminal', enabled: true }],
  },
  folders: { enable: true, max_file_count: 25 },
  channels: { enable: true },
  notes: { enable: false },
  users: { enable_status: true },
  memories: { enable: true },
  user: {
    permissions: {
      workspace: {
        models: true,
        knowledge: false,
        tools: true,
        tools_import: true,
        tools_export: false,
        skills: false,
      },
      sharing: { public_tools: true, models: false, public_models: false, notes: true },
      chat: {
        controls: true,
        delete: false,
        temporary: true,
        temporary_enforced: false,
        multiple_models: true,
      },
      features: {
        api_keys: true,
        web_search: true,
        direct_tool_servers: false,
        calendar: true,
        automations: false,
      },
      settings: { interface: true },
    },
  },
  oauth: {
    enable_signup: true,
    merge_accounts_by_email: false,
    enable_role_mapping: true,
    allowed_domains: ['example.com'],
    roles_claim: 'realm_access.roles',
    admin_roles: ['admin'],
    ...Object.fromEntries(
      providers.map((id) => [
        id,
        {
          client_id: `${id}-client`,
          client_secret: `secret-${id}`,
          scope: 'openid email profile',
          redirect_uri: '',
        },
      ]),
    ),
  },
  ldap: {
    enable: true,
    server: {
      ...{
        label: 'Firma',
        host: 'ldap.example.com',
        port: 636,
        attribute_for_mail: 'mail',
        attribute_for_username: 'uid',
      },
      ...{
        app_dn: 'cn=app',
        app_password: 'secret-ldap',
        users_dn: 'ou=people',
        search_filter: '',
        use_tls: true,
      },
      ...{ ca_cert_file: null, validate_cert: true, ciphers: 'ALL' },
    },
    group_management: { enable: false, creation: { enable: false }, attribute_for_groups: 'memberOf' },
  },
  rag: {
    ...{
      template: '### Task:\n{{CONTEXT}}',
      top_k: 5,
      top_k_reranker: 3,
      relevance_threshold: 0.05,
      bm25_weight: 0.5,
    },
    ...{
      enable_hybrid_search: true,
      full_context: false,
      chunk_size: 1500,
      chunk_overlap: 100,
      text_splitter: '',
    },
    ...{ embedding_engine: 'openai', embedding_model: 'text-embedding-3-small', embedding_batch_size: 32 },
    ...{
      openai: engine('embeddings'),
      ollama: { url: 'http://gpu-0.internal:11434', key: 'secret-rag-ollama' },
    },
    ...{
      azure_openai: { base_url: '', api_key: '', api_version: '' },
      reranking_engine: '',
      reranking_model: 'rerank',
    },
    ...{ external_reranker_url: 'https://rerank.example.com', external_reranker_api_key: 'secret-reranker' },
    file: { max_size: null, max_count: 10, allowed_extensions: ['pdf', 'md'], image_compression_width: null },
    content_extraction_engine: 'tika',
    tika_server_url: 'http://tika:9998',
    docling: {
      server_url: 'http://docling:5001',
      api_key: 'secret-docling',
      params: { do_ocr: true, langs: ['de', 'en'] },
    },
    document_intelligence_endpoint: '',
    document_intelligence_key: 'secret-intelligence',
    mistral_ocr_api_key: 'secret-mistral',
    youtube_loader_language: ['de', 'en'],
    youtube_loader_proxy_url: '',
    web: {
      search: {
        ...{
          enable: true,
          engine: 'searxng',
          result_count: 3,
          concurrent_requests: 0,
          domain: { filter_list: [] },
        },
        ...Object.fromEntries(searchKeys.map((name) => [`${name}_api_key`, `secret-${name}`])),
        ...{
          searxng_query_url: 'http://searxng:8080/search?q=<query>',
          yacy_username: 'y',
          yacy_password: 'secret-yacy',
        },
        ...{
          sougou_api_sid: 'sid',
          sougou_api_sk: 'secret-sougou',
          trust_env: false,
          bypass_web_loader: null,
        },
      },
      loader: { engine: '', ssl_verification: true, playwright_timeout: 10_000, timeout: '' },
    },
  },
  audio: {
    tts: {
      ...engine('speech', { model: 'tts-1', voice: 'alloy', split_on: 'punctuation' }),
      azure: { speech_region: '' },
    },
    stt: {
      ...engine('transcripts', { model: 'whisper-1', supported_content_types: [] }),
      deepgram: { api_key: 'secret-deepgram' },
    },
  },
  image_generation: {
    ...{ enable: false, engine: 'comfyui', model: '', size: '512x512', steps: 50, prompt: { enable: true } },
    automatic1111: { base_url: '', api_auth: '', cfg_scale: null, sampler: null, scheduler: null },
    comfyui: {
      base_url: 'http://comfy:8188',
      api_key: 'secret-comfy',
      workflow: '{"3": {}}',
      nodes: [{ type: 'prompt', node_ids: ['6'] }],
    },
    gemini: engine('gemini'),
  },
  images: { edit: { ...engine('edits'), size: null } },
  code_execution: {
    ...{ enable: true, engine: 'jupyter' },
    jupyter: {
      url: 'http://jupyter:8888',
      auth: 'token',
      auth_token: 'secret-jupyter',
      auth_password: '',
      timeout: 60,
    },
  },
  code_interpreter: {
    ...{ enable: true, engine: 'pyodide', prompt_template: '' },
    jupyter: { url: '', auth: '', auth_token: '', auth_password: 'secret-interpreter', timeout: null },
  },
  task: {
    model: { default: 'llama3.2:latest', external: '' },
    ...Object.fromEntries(
      ['title', 'follow_up', 'tags', 'query', 'search', 'autocomplete', 'image', 'tools', 'voice'].map(
        (name) => [
          name,
          {
            enable: name !== 'autocomplete',
            prompt_template: `### ${name}\n{{MESSAGES:END:6}}`,
            input_max_length: -1,
          },
        ],
      ),
    ),
  },
  evaluation: {
    arena: {
      enable: true,
      models: [{ id: 'arena', name: 'Arena', meta: { model_ids: null, access_control: {} } }],
    },
  },
  google_drive: { enable: false, client_id: '', api_key: 'secret-drive' },
  onedrive: {
    enable: true,
    client_id: 'o',
    sharepoint_url: '',
    sharepoint_tenant_id: '',
    client_id_business: '',
  },
  context_compaction: { '': { threshold: 0.8 }, 'a.b': [[], [{}], null, 0, -0.5, 1e21, ''] },
};

/** The values that differ between this service's form and the export. */
export const TRANSLATED: Record<string, unknown> = {
  version: 1,
  'ui.watermark': '',
  'ui.banners': LARGE_EXPORT.ui.banners.map(({ title, ...banner }) => ({
    ...banner,
    ...(title !== null && { title }),
  })),
  'models.default_metadata': {},
  'folders.max_file_count': '25',
  'tool_server.connections': [
    { type: 'openapi', ...LARGE_EXPORT.tool_server.connections[0] },
    { ...LARGE_EXPORT.tool_server.connections[1], headers: { 'X-Tenant': 'secret-tenant' } },
    { type: 'openapi', auth_type: null, ...LARGE_EXPORT.tool_server.connections[2], headers: null },
  ],
};
