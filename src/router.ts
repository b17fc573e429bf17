import { accessRouter } from './access/access.router.ts';
import { permissionsRouter } from './access/permissions.router.ts';
import { previewRouter } from './access/preview.router.ts';
import { auditRouter } from './audit/audit.router.ts';
import { authRouter } from './auth/auth.router.ts';
import { keysRouter } from './auth/keys/keys.router.ts';
import { ldapRouter } from './auth/ldap/ldap.router.ts';
import { methodsRouter } from './auth/methods/methods.router.ts';
import { oauthRouter } from './auth/oauth/oauth.router.ts';
import { sessionsRouter } from './auth/sessions/sessions.router.ts';
import { channelsRouter } from './channels/channels.router.ts';
import { configsRouter } from './configs/configs.router.ts';
import { partsRouter } from './configs/parts/parts.router.ts';
import { router } from './core/trpc.ts';
import { filesRouter } from './files/files.router.ts';
import { groupsRouter } from './groups/groups.router.ts';
import { membersRouter } from './members/members.router.ts';
import { messagesRouter } from './messages/messages.router.ts';
import { reactionsRouter } from './reactions/reactions.router.ts';
import { readersRouter } from './reads/reads.router.ts';
import { searchRouter } from './search/search.router.ts';
import { threadsRouter } from './threads/threads.router.ts';
import { toolFormatRouter } from './tools/format/format.router.ts';
import { toolImportRouter } from './tools/import/import.router.ts';
import { toolInstallRouter } from './tools/install/install.router.ts';
import { toolLoadRouter } from './tools/load/load.router.ts';
import { toolsRouter } from './tools/tools.router.ts';
import { valvesRouter } from './tools/valves/valves.router.ts';
import { toolHistoryRouter } from './tools/versions/history.router.ts';
import { toolVersionsRouter } from './tools/versions/versions.router.ts';
import { peopleRouter } from './users/people.router.ts';
import { profileRouter } from './users/profile.router.ts';
import { settingsRouter } from './users/settings.router.ts';
import { usersRouter } from './users/users.router.ts';
import { variablesRouter } from './users/variables.router.ts';
import { deliveriesRouter } from './webhooks/deliveries.router.ts';
import { webhooksRouter } from './webhooks/webhooks.router.ts';

/** Every operation of the service; all doors are made from it. */
export const appRouter = router({
  access: accessRouter,
  apiKeys: keysRouter,
  audit: auditRouter,
  auths: authRouter,
  channels: channelsRouter,
  configs: configsRouter,
  configParts: partsRouter,
  deliveries: deliveriesRouter,
  files: filesRouter,
  groups: groupsRouter,
  ldap: ldapRouter,
  members: membersRouter,
  messages: messagesRouter,
  methods: methodsRouter,
  oauth: oauthRouter,
  reactions: reactionsRouter,
  search: searchRouter,
  sessions: sessionsRouter,
  people: peopleRouter,
  permissions: permissionsRouter,
  preview: previewRouter,
  profile: profileRouter,
  settings: settingsRouter,
  readers: readersRouter,
  threads: threadsRouter,
  toolHistory: toolHistoryRouter,
  toolFormat: toolFormatRouter,
  toolImport: toolImportRouter,
  toolInstall: toolInstallRouter,
  toolLoad: toolLoadRouter,
  tools: toolsRouter,
  toolVersions: toolVersionsRouter,
  users: usersRouter,
  userVariables: variablesRouter,
  valves: valvesRouter,
  webhooks: webhooksRouter,
});

export type AppRouter = typeof appRouter;
