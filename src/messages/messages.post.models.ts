import type { Author } from '../channelbase/channels.brief.schema.ts';
import type { Parts } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { insertPosts, type NewPost } from './messages.post.repository.ts';
import { messageOf, type Post, tell, viewOf } from './messages.post.ts';

/** A model as the author; `user` is the account that called it. */
export interface ModelPost extends Pick<Post, 'id' | 'parent_id' | 'reply_to_id' | 'meta'> {
  model_id: string;
  user: Author;
}

/**
 * Stores empty messages of models in one channel, in the caller's transaction, which has locked the channel
 * (`lockForPosts`). The account that called the models needs the right to write.
 *
 * @returns for each post its id, or null if it cannot be posted any more; and a function that publishes them
 *   after the commit
 */
export async function postAsModels(
  parts: Pick<Parts, 'bus'>,
  tx: Sql,
  posts: readonly ModelPost[],
): Promise<{ ids: (string | null)[]; publish(): void }> {
  const stored = posts.map(
    ({ model_id, user, ...post }): NewPost => ({
      view: viewOf({ ...post, content: '' }, user.id, user),
      is_admin: user.role === 'admin',
      author: { type: 'model', id: model_id },
      mentions: [],
      files: [],
    }),
  );
  const texts = stored.map((post) => JSON.stringify(post));
  const outcomes = await insertPosts(tx, texts, { waits: true, refers: true });
  const accepted = stored.flatMap((post, n) => {
    const result = outcomes[n];
    return result?.outcome === 'posted' ? { post, result } : [];
  });
  const idsOfAccepted = new Set(accepted.map(({ post }) => post.view.id));
  return {
    ids: stored.map(({ view }) => (idsOfAccepted.has(view.id) ? view.id : null)),
    publish() {
      for (const { post, result } of accepted) tell(parts, post, messageOf(post.view, result), result);
    },
  };
}
