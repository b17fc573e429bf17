export type Words = Readonly<Record<string, unknown>>;

const id = (last: string) => `019aac4e-7c00-7000-8000-0000000000${last}`;
export const SOMETHING = id('0f');
export const SECONDS = 1_763_800_000;
export const NANOSECONDS = SECONDS * 1e9;

const TOOL = 'class Tools:\n    def greet(self, name: str) -> str:\n        return f"Hello {name}"\n';
const JWT = 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl';
const VALVES = { units: 'metric' };
const VALVES_SPEC = { type: 'object', properties: { units: { type: 'string', default: 'metric' } } };
const MODEL = {
  id: 'helper',
  base_model_id: 'llama3',
  name: 'Helper',
  meta: { description: 'Answers questions' },
  params: { temperature: 0.2 },
};
const NOTES = { city: 'Oslo' };

/** The example values of nouns, for their members. The first noun that a name contains counts. */
const NOUNS: readonly (readonly [name: RegExp, words: Words])[] = [
  [/^Error$/, { code: 'not_found', detail: 'There is nothing under that address or id.' }],
  [/^ConfigurationExplained$/, { locked: [] }],
  [/^Explanation$/, { rule: 'administrator', detail: 'Administrators may do everything.', grants: [] }],
  [/^Membership$/, { role: 'member' }],
  [/^Grant$/, { id: id('0c'), resource_type: 'channel', resource_id: id('02') }],
  [
    /audit/i,
    {
      id: id('0d'),
      actor_id: id('01'),
      actor_email: 'ada@example.com',
      credential: 'session',
      credential_id: id('06'),
      target_type: 'user',
      target_id: id('0e'),
      before: { role: 'pending' },
      after: { role: 'user' },
    },
  ],
  [/^(models|knowledge)$/, { items: [], total: 0 }],
  [/reaction/i, { name: 'thumbsup', users: [{ id: id('01'), name: 'Ada' }] }],
  [
    /deliver/i,
    { id: id('09'), channel_id: id('02'), message_id: id('03'), status: 'delivered', response_status: 204 },
  ],
  [/^(?!.*config).*model/i, { ...MODEL, model_id: 'helper' }],
  [/webhook/i, { id: id('08'), name: 'Builds', token: 'pHq3vT0cX9' }],
  [/api_?key|key_id/i, { id: id('07'), name: 'Laptop', allowed_endpoints: ['/api/channels'] }],
  [/session(?!user)/i, { id: id('06') }],
  [/history/i, { id: id('0b'), name: 'Greeting', content: TOOL }],
  [/install/i, { state: 'ready', detail: '', requirements: ['httpx==0.28.1'] }],
  [/(^Tool|\/)runs?\b/i, { id: id('0a'), outcome: 'ok' }],
  [/tool_?server/i, { path: 'openapi.json' }],
  [/function|spec/i, { name: 'greet', description: 'Greets a person' }],
  [/tool/i, { id: 'greeting', name: 'Greeting', content: TOOL, description: 'Greets people' }],
  [/(?<!pro)file/i, { id: id('05'), name: 'notes.txt', message: 'All files deleted successfully' }],
  [/user|member|author|auths|whoami|_by$|ldap|principal/i, { id: id('01'), name: 'Ada' }],
  [/group/i, { id: id('04'), name: 'Research', description: 'All of the laboratory' }],
  [/message|parent|reply|thread/i, { id: id('03') }],
  [/channel/i, { id: id('02'), name: 'general', description: 'What concerns all' }],
];

/** The example values for the name of a component, a path or a member. */
export const nounOf = (name: string): Words | undefined => NOUNS.find(([noun]) => noun.test(name))?.[1];

/** The example values of members in any noun. */
export const EVERYWHERE: Words = {
  name: 'Parley',
  email: 'ada@example.com',
  user: 'ada',
  role: 'user',
  password: 'a long pass phrase',
  new_password: 'another long pass phrase',
  content: 'Hello',
  text: 'Hello',
  file: 'Hello',
  title: ['Show me', 'what is new'],
  type: 'info',
  token: JWT,
  logout_token: JWT,
  api_key: 'sk-2f1c0de4a7b94b5f8c3d',
  masked: 'sk-2…8c3d',
  cursor: `${SECONDS}000000`,
  from_id: id('0b'),
  to_id: id('0c'),
  timezone: 'Europe/Oslo',
  status_emoji: '🌴',
  status_message: 'On holiday',
  profile_image_url: '/user.png',
  principal_type: 'user',
  permission: 'read',
  user_agent: 'Mozilla/5.0',
  ip: '203.0.113.7',
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  filename: 'notes.txt',
  content_type: 'text/plain',
  size: 1024,
  duration_ms: 12.5,
  action: 'user.update',
  version_id: '9f86d081',
  function: 'greet',
  result: 'Hello Ada',
  answer: 'yes',
  value: true,
  default: true,
  parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  path: 'ui.enable_signup',
  message: 'must be true or false',
  changed: ['ui.enable_signup'],
  meaning: 'Whether people may sign up',
  code: 'print("Hello")\n',
  content_diff: '-Hello\n+Hello Ada\n',
  JWT_EXPIRES_IN: '4w',
  jwt_expiry: '4w',
  default_locale: 'en-US',
  version: '0.1.0',
  current: '0.1.0',
  host: 'ldap.example.com',
  port: 636,
  label: 'Directory',
  attribute_for_mail: 'mail',
  attribute_for_username: 'uid',
  attribute_for_groups: 'memberOf',
  app_dn: 'cn=parley,dc=example,dc=com',
  search_base: 'ou=people,dc=example,dc=com',
  server: 'ldaps://ldap.example.com:636',
  filter: '(uid=ada)',
  dn: 'uid=ada,ou=people,dc=example,dc=com',
  provider: 'oidc',
  OAUTH_PROVIDER_NAME: 'Keycloak',
  OAUTH_CLIENT_ID: 'parley',
  OAUTH_SCOPES: 'openid email profile',
  OAUTH_EMAIL_CLAIM: 'email',
  OAUTH_USERNAME_CLAIM: 'name',
  OAUTH_PICTURE_CLAIM: 'picture',
  OAUTH_ROLES_CLAIM: 'roles',
  OAUTH_GROUP_CLAIM: 'groups',
  DEFAULT_MODELS: 'llama3',
  MODEL_ORDER_LIST: ['llama3'],
  variables: NOTES,
  permissions: { workspace: { tools: true }, chat: { file_upload: true } },
  workspace: { tools: true },
  chat: { file_upload: true },
  default_user_role: 'pending',
  defaults: { workspace: { tools: false }, chat: { file_upload: true } },
  inherited_permissions: {},
  effective_permissions: { workspace: { tools: true } },
};

/** The example values of answers only: a state that fits the members that are null. */
export const SHOWN: Words = {
  access_grants: [],
  faults: [],
  is_private: false,
  is_pinned: false,
  is_channel_muted: false,
  line_endings_only: false,
  locked: false,
  model_ids: [],
  status_emoji: null,
  status_message: null,
  reply_count: 0,
  reply_to_message: null,
  unread_count: 0,
  mention_count: 0,
};

/** Bodies of operations whose schema says too little. */
export const BODIES: Words = {
  'modelTransfer.import': { models: [MODEL] },
  'modelTransfer.sync': { models: [MODEL] },
  'modelVersions.restore': { version_id: SOMETHING },
  'profile.updateNotes': NOTES,
  'settings.update': { ui: { theme: 'dark' } },
  'tools.invoke': { function: 'greet', arguments: { name: 'Ada' } },
  'toolImport.file': { tools: [{ id: 'greeting', name: 'Greeting', content: TOOL }] },
  'users.update': { name: 'Ada Lovelace' },
  'valves.update': VALVES,
  'valves.userUpdate': VALVES,
};

/** Answers of operations whose schema says too little. */
export const ANSWERS: Words = {
  'configs.namespace': { 'ui.enable_signup': true },
  'profile.notes': NOTES,
  'profile.updateNotes': NOTES,
  'readers.mute': { is_channel_muted: true },
  'valves.get': VALVES,
  'valves.spec': VALVES_SPEC,
  'valves.update': VALVES,
  'valves.userGet': VALVES,
  'valves.userSpec': VALVES_SPEC,
  'valves.userUpdate': VALVES,
};
