import type { Sql } from '../database/sql.ts';
import { parseMentions } from './mentions.parse.ts';
import { EVERYONE, findCalled, storeMentions } from './mentions.repository.ts';

/** Names that mean all readers of the channel, unless a longer name matches. */
const GROUPS: ReadonlySet<string> = new Set(['here', 'channel']);

/**
 * The people whom a text mentions, only readers of the channel; `EVERYONE` for `@here` and `@channel`. If
 * several names match after an `@`, the longest counts, with all people who have it. A text without `@` needs
 * no query.
 *
 * @param authorId whose mentions of themselves do not count; null for a program
 * @returns ids, each once
 */
export async function findMentions(
  sql: Sql,
  channelId: string,
  content: string,
  authorId: string | null,
): Promise<string[]> {
  const { userIds, names } = parseMentions(content);
  if (userIds.length + names.length === 0) return [];
  const candidates = [...new Set(names.flat())];
  const called = await findCalled(sql, channelId, candidates, userIds);
  const idsOf = new Map(candidates.map((name, n) => [name, called.byName[n] ?? []]));

  const mentioned = new Set(called.byId);
  for (const spelled of names) {
    for (const id of longest(spelled, idsOf)) mentioned.add(id);
  }
  if (authorId !== null) mentioned.delete(authorId);
  return [...mentioned];
}

/** The people with the longest name that exists. */
function longest(names: readonly string[], idsOf: ReadonlyMap<string, string[]>): string[] {
  for (const name of names) {
    const ids = idsOf.get(name) ?? [];
    if (ids.length > 0) return ids;
    if (GROUPS.has(name.toLowerCase())) return [EVERYONE];
  }
  return [];
}

/**
 * Updates the mentions of an edited message, in the transaction of the edit. People who stay mentioned get no
 * new notice.
 *
 * @param authorId the author of the message; null if a program posted it
 */
export async function updateMentions(
  sql: Sql,
  message: { channelId: string; messageId: string; content: string; authorId: string | null },
): Promise<void> {
  const { channelId, messageId, content, authorId } = message;
  await storeMentions(sql, channelId, messageId, await findMentions(sql, channelId, content, authorId));
}
