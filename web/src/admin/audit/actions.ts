/** The actions of the audit log, by their nouns. The words are `audit.actions.<noun>.<action>` in `admin.json`. */
export const ACTIONS: Record<string, string[]> = {
  user: ['create', 'update', 'role', 'link', 'delete'],
  auth: ['signin', 'signin_failed', 'signout', 'password'],
  session: ['end'],
  api_key: ['create', 'delete'],
  group: ['create', 'update', 'add', 'remove', 'sync', 'delete'],
  grants: ['update'],
  config: ['import', 'rollback'],
  channel: ['create', 'update', 'add', 'remove', 'role', 'delete'],
  message: ['update', 'delete'],
  webhook: ['create', 'update', 'delete'],
  tool: ['create', 'content', 'update', 'install', 'valves', 'delete'],
  model: ['create', 'update', 'delete'],
  file: ['edit', 'rename', 'delete', 'delete_all'],
  secret: ['accept'],
};
