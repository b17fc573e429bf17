import { access } from './access/access.noun.ts';
import { audit } from './audit/audit.noun.ts';
import { auth } from './auth/auth.noun.ts';
import { channelbase } from './channelbase/channelbase.noun.ts';
import { channels } from './channels/channels.noun.ts';
import { configs } from './configs/configs.noun.ts';
import type { DeclareMetrics } from './core/metrics.ts';
import type { Grantable } from './core/rules.ts';
import type { Intersection } from './core/types.ts';
import type { Sql } from './database/sql.ts';
import type { StreamKind } from './events/streams.ts';
import { files } from './files/files.noun.ts';
import { groups } from './groups/groups.noun.ts';
import type { JobKind } from './jobs/kind.ts';
import { members } from './members/members.noun.ts';
import { mentions } from './mentions/mentions.noun.ts';
import { messages } from './messages/messages.noun.ts';
import { models } from './models/models.noun.ts';
import type { Base, Noun, OnAccountDeleted } from './noun.ts';
import { providers } from './providers/providers.noun.ts';
import { reactions } from './reactions/reactions.noun.ts';
import { reads } from './reads/reads.noun.ts';
import { replies } from './replies/replies.noun.ts';
import { search } from './search/search.noun.ts';
import { settings } from './settings/settings.noun.ts';
import { threads } from './threads/threads.noun.ts';
import { tools } from './tools/tools.noun.ts';
import { usage } from './usage/usage.noun.ts';
import { users } from './users/users.noun.ts';
import { webhooks } from './webhooks/webhooks.noun.ts';

/**
 * Every noun. The order counts for deleted accounts: people leave their channels (`members`) before it is decided who gets the files
 * in these.
 *
 * @internal The compiler cannot write this type into a declaration, and the client's build skips it.
 */
export const nouns = [
  users,
  auth,
  groups,
  access,
  audit,
  configs,
  providers,
  usage,
  models,
  channelbase,
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
  replies,
] as const;

type PartsOf<N> = N extends { start: (...base: never) => infer S }
  ? Awaited<S> extends { parts: infer P }
    ? P
    : never
  : never;
type NounParts = Intersection<PartsOf<(typeof nouns)[number]>>;

/** Starts all nouns in their order; `closers` stops them. */
export async function startNouns(
  base: Base,
  closers: { add(close: () => unknown): void },
): Promise<NounParts> {
  const parts = {};
  for (const { start } of nouns as readonly Noun[]) {
    const started = await start?.(base);
    if (started?.close) closers.add(started.close);
    Object.assign(parts, started?.parts);
  }
  return parts as NounParts;
}

// biome-ignore lint/suspicious/noExplicitAny: each kind checks its own payload
export const jobKinds: readonly JobKind<any>[] = nouns.flatMap(({ jobs }: Noun) => jobs ?? []);

/** Each declares the metrics of a noun. */
export const nounMetrics: readonly DeclareMetrics[] = nouns.flatMap(({ metrics }: Noun) => metrics ?? []);

/** Each tells `GET /ready` the state of a noun. */
export const nounReadiness = nouns.flatMap(({ readiness }: Noun) => readiness ?? []);

/** What each noun does when an account is deleted, in this order. */
export const accountDeletion: readonly OnAccountDeleted[] = nouns.flatMap(({ onAccountDeleted }: Noun) =>
  typeof onAccountDeleted === 'function' ? onAccountDeleted : [],
);

/** The kinds of resources that rights can be granted to. */
export const grantable: readonly Grantable[] = nouns.flatMap((noun: Noun) => noun.grantable ?? []);

/** The kinds of streams that nouns declare. */
export const streamKinds = (sql: Sql): StreamKind[] =>
  nouns.flatMap((noun: Noun) => noun.streams?.(sql) ?? []);
