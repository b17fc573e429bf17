/** The descriptions of tags. */
export const TAGS: Readonly<Record<string, string>> = {
  access: 'Which rule allows or refuses something.',
  audit: 'The log of who changed what.',
  auths: 'Accounts of the callers themselves: sign-up, sign-in, sessions, API keys.',
  channels: 'Channels, their members, and what is new in them.',
  completions: 'Answers of models, in the shapes of OpenAI and of Anthropic.',
  configs: 'The configuration of the server, whole and in parts.',
  files: 'Uploads, which messages and tools refer to.',
  groups: 'User groups, whose members share permissions and grants.',
  messages: 'Messages of channels: posting, threads, reactions, pins, search.',
  models: 'Models of providers, and the records over them: prompts, parameters, grants.',
  notifications: 'Deliveries to the webhooks and the browsers of people.',
  providers: 'Connections to the providers of models.',
  tools: 'Python tools: source, settings, versions, calls.',
  usage: 'What calls of models used, and what limits leave.',
  users: 'Accounts, as administrators manage them and as people see each other.',
  webhooks: 'Addresses by which programs post into a channel.',
};

/** The descriptions of `{id}`, by the beginning of the path. */
const IDS: readonly (readonly [path: RegExp, description: string])[] = [
  [/^\/auths\/api_keys/, 'The API key'],
  [/^\/auths\/sessions/, 'The session'],
  [/^\/channels\/webhooks/, 'The webhook'],
  [/^\/channels/, 'The channel'],
  [/^\/files/, 'The file'],
  [/^\/groups/, 'The group'],
  [/^\/models/, 'The model'],
  [/^\/tools/, 'The tool'],
  [/^\/users\/user\/deliveries/, 'The delivery'],
  [/^\/users\/user\/push/, 'The subscription'],
  [/^\/users/, 'The account'],
];

/** The descriptions of other parameters, by name. */
const PARAMETERS: Readonly<Record<string, string>> = {
  action: 'Only entries of this action, such as `user.update`, or of all that begin so, such as `user`',
  actor: 'Only what this account did',
  after: 'Only what is later than this time',
  around: 'A window with this message, and half of `limit` on each side',
  at: 'The same window around the first message at or after this time, in nanoseconds; else around the newest',
  before: 'Only what is earlier than this time',
  by: 'What each day is split by',
  channel_id: 'Only messages of this channel',
  cursor: 'Where the page begins: what the page before gave as its end',
  direction: 'Ascending or descending',
  dry_run: 'Answers what an import would change, and changes nothing',
  filename: 'The name of the file; `*` stands for any characters, `?` for one',
  fill: 'With `defaults`, missing members take their default values',
  first: 'The first day, in UTC; 30 days before the last one unless given',
  from: 'Only messages of this author',
  from_id: 'The older of the two states',
  history_id: 'The state of the source',
  ids: 'Only those with these ids',
  keep_current: 'The session of this call goes on',
  include_inherited: 'Also the groups above them; each group then has its `membership_type`',
  key_id: 'The API key',
  last: 'The last day, in UTC; today unless given',
  limit: 'The most entries of the answer',
  membership:
    '`direct`: who was added to the group itself; `inherited`: only to groups below it; `effective`: both',
  message_id: 'The message',
  model: 'Only calls of this model',
  namespace: 'The first part of the names of settings, such as `ui`',
  ns: 'The first part of the names of settings, such as `ui`',
  order_by: 'What the entries are ordered by',
  page: 'The number of the page, from 1',
  path: 'A setting, or a section of them, such as `ui`',
  permission: 'The name of a permission, such as `workspace.tools`',
  provider: 'As `oauth.providers` of `GET /config` names it',
  q: 'Words, "a phrase", `or`, -without; the last word may be the beginning of one',
  query: 'A part of the name',
  refresh: 'Asks the providers again, in the background',
  resource_id: 'The resource that the right is asked for',
  resource_type: 'The kind of that resource',
  right: 'Reading or writing',
  role: 'Only accounts with this role',
  run_id: 'The run, as its first event names it',
  secrets: 'Answers secrets in clear instead of masks',
  session_id: 'The session',
  share: 'Only groups that the caller may give rights to',
  skip: 'How many entries to pass over',
  status: 'Only what is in this state',
  stream: 'Answers as server-sent events instead of once',
  tag: 'Only what has this tag',
  target: 'Only what was done to this type, such as `user`, or to one of it, such as `user:` and its id',
  to_id: 'The newer of the two states',
  token: 'The secret part of the address of the webhook',
  unread: 'Only threads with replies that the caller has not seen',
  user_id: 'The account',
  version: 'The number of the version',
  view_option: '`created` for what the caller made, `shared` for the rest',
  webhook_id: 'The webhook',
};

/** The descriptions of parameters that are ids of messages. */
const OF_MESSAGES: Readonly<Record<string, string>> = {
  after: 'Only the oldest messages that are newer than this message',
  before: 'Only the newest messages that are older than this message',
};
const MESSAGES = /^\/channels\/\{id\}\/messages/;

/** The description of a parameter; undefined when there is none yet. */
export const describeParameter = (path: string, name: string): string | undefined =>
  (MESSAGES.test(path) ? OF_MESSAGES[name] : undefined) ??
  (name === 'id' ? IDS.find(([beginning]) => beginning.test(path))?.[1] : PARAMETERS[name]);
