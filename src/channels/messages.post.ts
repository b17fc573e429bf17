import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import type { Sql } from '../database/sql.ts';
import { noSuchChannel, requireChannel } from './channels.service.ts';
import { authorOf, briefOf, publishEvent } from './messages.changes.ts';
import { insertMessage, readRelated } from './messages.post.repository.ts';
import type { PostedMessage } from './messages.schema.ts';

export interface Post {
  id: string;
  content: string;
  reply_to_id?: string | null | undefined;
  parent_id?: string | null | undefined;
  data?: Record<string, unknown> | null | undefined;
  meta?: Record<string, unknown> | null | undefined;
  temp_id?: string | null | undefined;
}

/**
 * Posts a message: into the main line, or into the thread of `parent_id`.
 *
 * @throws not_found, forbidden, and bad_request when it refers to a message that the channel does not have
 */
export async function postMessage(scope: Scope, post: Post): Promise<PostedMessage> {
  const channel = await requireChannel(scope, post.id, 'write');
  const { root_id, quoted } = await resolveReferences(scope.sql, post);
  const author = authorOf(scope.actor);
  const message = {
    id: uuidv7(),
    channel_id: post.id,
    content: post.content,
    reply_to_id: post.reply_to_id ?? null,
    parent_id: root_id,
    data: post.data ?? {},
    meta: post.meta ?? {},
  };
  const timeless = {
    ...message,
    user_id: author.id,
    user: author,
    is_pinned: false,
    pinned_by: null,
    pinned_at: null,
    reactions: [],
    reply_count: 0,
    latest_reply_at: null,
    reply_to_message: quoted,
    temp_id: post.temp_id ?? null,
  };
  const posted = await insertMessage(scope.sql, message, author, timeless).catch(refuseDangling);
  if (!posted) throw noSuchChannel();

  const view: PostedMessage = { ...timeless, created_at: Number(posted.at), updated_at: Number(posted.at) };
  const envelope = { channel_id: post.id, at: posted.at, user: author, channel: briefOf(channel) };
  publishEvent(scope, { ...envelope, event_id: posted.event_id, type: 'message', message: view });
  if (posted.parent) {
    publishEvent(scope, {
      ...envelope,
      event_id: posted.event_id + 1,
      type: 'message:reply',
      message: posted.parent,
    });
  }
  return view;
}

async function resolveReferences(sql: Sql, { id, parent_id = null, reply_to_id = null }: Post) {
  if (parent_id === null && reply_to_id === null) return { root_id: null, quoted: null };
  const related = await readRelated(sql, id, parent_id, reply_to_id);
  if (parent_id !== null && related.root_id === null) {
    throw new AppError('bad_request', { detail: 'parent_id: there is no such message in this channel.' });
  }
  if (reply_to_id !== null && related.quoted === null) {
    throw new AppError('bad_request', { detail: 'reply_to_id: there is no such message in this channel.' });
  }
  return related;
}

/** PostgreSQL's code for a foreign key without its row. */
const FOREIGN_KEY_VIOLATION = '23503';

/** What a message refers to was deleted between our look at it and the write. */
function refuseDangling(error: { code?: string }): never {
  if (error.code !== FOREIGN_KEY_VIOLATION) throw error;
  throw new AppError('bad_request', {
    detail: 'parent_id or reply_to_id: the message has just been deleted.',
    cause: error,
  });
}
