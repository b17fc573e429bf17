import { access } from './access/access.noun.ts';
import { audit } from './audit/audit.noun.ts';
import { auth } from './auth/auth.noun.ts';
import { channels } from './channels/channels.noun.ts';
import { configs } from './configs/configs.noun.ts';
import type { Noun, OnAccountDeleted } from './core/noun.ts';
import { files } from './files/files.noun.ts';
import { groups } from './groups/groups.noun.ts';
import { members } from './members/members.noun.ts';
import { mentions } from './mentions/mentions.noun.ts';
import { messages } from './messages/messages.noun.ts';
import { reactions } from './reactions/reactions.noun.ts';
import { reads } from './reads/reads.noun.ts';
import { search } from './search/search.noun.ts';
import { settings } from './settings/settings.noun.ts';
import { threads } from './threads/threads.noun.ts';
import { tools } from './tools/tools.noun.ts';
import { users } from './users/users.noun.ts';
import { webhooks } from './webhooks/webhooks.noun.ts';

/**
 * Every noun. The order counts for deleted accounts: people leave their channels (`members`) before it is decided who gets the files
 * in these.
 */
export const nouns = [
  users,
  auth,
  groups,
  access,
  audit,
  configs,
  channels,
  members,
  messages,
  mentions,
  reactions,
  reads,
  threads,
  search,
  settings,
  webhooks,
  tools,
  files,
] as const;

/** What each noun does when an account is deleted, in this order. */
export const accountDeletion: readonly OnAccountDeleted[] = nouns.flatMap(({ onAccountDeleted }: Noun) =>
  typeof onAccountDeleted === 'function' ? onAccountDeleted : [],
);
