import type { Sql } from '../database/sql.ts';
import { parseMentions } from './mentions.parse.ts';
import { EVERYONE, findCalled, storeMentions } from './mentions.repository.ts';

/** Names that mean everybody who reads the channel, unless somebody's name is longer. */
const GROUPS: ReadonlySet<string> = new Set(['here', 'channel']);

/**
 * Whom a text mentions in a channel: only those who may read it, and `EVERYONE` for `@here` and `@channel`. Where several
 * names fit behind an `@`, the longest counts, and everybody who goes by it. A text without `@` asks the database nothing.
 *
 * @param authorId mentions of themselves do not count; null for a program
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

/** Those who go by the longest name that is anybody's. */
function longest(names: readonly string[], idsOf: ReadonlyMap<string, string[]>): string[] {
  for (const name of names) {
    const ids = idsOf.get(name) ?? [];
    if (ids.length > 0) return ids;
    if (GROUPS.has(name.toLowerCase())) return [EVERYONE];
  }
  return [];
}

/**
 * Brings the mentions of an edited message up to date, within the transaction of the edit. Those who stay mentioned are not
 * told again.
 *
 * @param authorId of the message; null when a program posted it
 */
export async function updateMentions(
  sql: Sql,
  message: { channelId: string; messageId: string; content: string; authorId: string | null },
): Promise<void> {
  const { channelId, messageId, content, authorId } = message;
  await storeMentions(sql, channelId, messageId, await findMentions(sql, channelId, content, authorId));
}
