import type { EditEntry, PostEntry, ReactionEntry } from '../load/journal.ts';
import type { Finding } from './events.ts';

/** A message as the API shows it at the end. */
export interface StoredMessage {
  id: string;
  content: string;
  meta: { model_id?: string; done?: boolean };
  reactions: { name: string; users: { id: string }[] }[];
}

const TEMP_ID = /^[0-9a-f-]{36}/;

/** Checks posts of a channel: each that was acknowledged is there once, each other at most once. */
export function checkPosts(posts: readonly PostEntry[], stored: readonly StoredMessage[]): Finding[] {
  const byTempId = Map.groupBy(
    stored.filter(({ meta }) => !meta.model_id),
    ({ content }) => TEMP_ID.exec(content)?.[0] ?? '',
  );
  return posts.flatMap(({ tempId, id, refused, attempts, channelId }): Finding[] => {
    const found = byTempId.get(tempId) ?? [];
    const what = `post ${tempId} in channel ${channelId}`;
    if (found.length > 1)
      return [{ kind: 'doubled write', detail: `${what} is there ${found.length} times` }];
    if (id !== null && found.length === 0) return [{ kind: 'lost write', detail: `${what} is not there` }];
    if (id !== null && found[0]?.id !== id)
      return [{ kind: 'changed write', detail: `${what} was acknowledged as ${id}, and is ${found[0]?.id}` }];
    // An attempt without an answer may have stored it, before the person lost the right to write.
    if (refused !== null && attempts === 1 && found.length > 0)
      return [{ kind: 'changed write', detail: `${what} was refused with ${refused}, and is there` }];
    return [];
  });
}

/** Checks that each acknowledged edit is there. */
export const checkEdits = (
  edits: readonly EditEntry[],
  stored: ReadonlyMap<string, StoredMessage>,
): Finding[] =>
  edits
    .filter(({ messageId, content, isAcked }) => isAcked && stored.get(messageId)?.content !== content)
    .map(({ messageId }) => ({
      kind: 'lost write',
      detail: `the edit of message ${messageId} is not there`,
    }));

/** Checks that each acknowledged reaction is there once. */
export function checkReactions(
  reactions: readonly ReactionEntry[],
  stored: ReadonlyMap<string, StoredMessage>,
): Finding[] {
  return reactions.flatMap(({ messageId, personId, name, isAcked }): Finding[] => {
    const all = stored.get(messageId)?.reactions.filter((reaction) => reaction.name === name) ?? [];
    const count = all.flatMap(({ users }) => users).filter(({ id }) => id === personId).length;
    const what = `${name} of ${personId} at message ${messageId}`;
    if (count > 1) return [{ kind: 'doubled write', detail: `${what} is there ${count} times` }];
    return isAcked && count === 0 ? [{ kind: 'lost write', detail: `${what} is not there` }] : [];
  });
}

/** Replies of models that never ended. */
export const findUnfinished = (stored: readonly StoredMessage[]): Finding[] =>
  stored
    .filter(({ meta }) => meta.model_id && meta.done === false)
    .map(({ id }) => ({ kind: 'unfinished reply', detail: `the reply ${id} of a model has not ended` }));
