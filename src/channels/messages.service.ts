import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Scope } from '../core/scope.ts';
import { LIMITS } from '../core/wire.ts';
import type { Sql } from '../database/sql.ts';
import type { ChannelAccess } from './channels.repository.ts';
import { noSuchChannel, requireChannel } from './channels.service.ts';
import {
  authorOf,
  briefOf,
  ERASED_META,
  noSuchMessage,
  publishEvent,
  recordChanges,
} from './messages.changes.ts';
import {
  DELETE,
  EDIT,
  ENTOMB,
  type Found,
  insertMessage,
  type Page,
  listMessages as queryMessages,
  REWRITE,
  readMessage,
  readRelated,
  UNCOUNT,
  VIEW_ONE,
} from './messages.repository.ts';
import type { MessageView, PostedMessage } from './messages.schema.ts';

/** The result of a read that checked access itself. @throws not_found, forbidden */
function found<T>(result: Found<T>): T {
  if (result === undefined) throw noSuchChannel();
  if (result === null) throw new AppError('forbidden');
  return result;
}

/** The newest messages of the main line, newest first. @throws not_found, forbidden */
export async function listMessages(
  scope: Scope,
  channelId: string,
  page: Page,
): Promise<Json<MessageView[]>> {
  return found(await queryMessages(scope.sql, scope.actor, channelId, page));
}

/** @throws not_found, forbidden */
export async function getMessage(scope: Scope, channelId: string, messageId: string): Promise<MessageView> {
  const { message } = found(await readMessage(scope.sql, scope.actor, channelId, messageId));
  if (!message) throw noSuchMessage();
  return message;
}

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

export interface Edit {
  id: string;
  message_id: string;
  content: string;
  data?: Record<string, unknown> | null | undefined;
  meta?: Record<string, unknown> | null | undefined;
}

/**
 * Changes a message: its author, and whoever may write in the channel. `data` and `meta` are merged into what is there.
 *
 * @throws not_found, forbidden, and validation when `data` or `meta` would grow too large
 */
export async function editMessage(scope: Scope, edit: Edit): Promise<MessageView> {
  const { id: channelId, message_id: messageId, content } = edit;
  const channel = await requireAuthorOrWriter(scope, channelId, messageId);
  const { message } = await recordChanges(scope, channel, (log) =>
    log('message:update', messageId, async (sql, at, { view: before, is_deleted }) => {
      if (is_deleted) throw noSuchMessage();
      const data = mergeForm('data', before.data, edit.data);
      const meta = mergeForm('meta', before.meta, edit.meta);
      await sql.rows(EDIT, [channelId, messageId, content, data, meta, at]);
      await sql.rows(REWRITE, [channelId, messageId, content, data, meta]);
    }),
  );
  return message;
}

/** The members sent, merged into those that are there, as JSON. @throws validation when they are too large together */
function mergeForm(
  member: 'data' | 'meta',
  stored: Record<string, unknown>,
  sent: Record<string, unknown> | null | undefined,
): string {
  const merged = JSON.stringify({ ...stored, ...sent });
  if (Buffer.byteLength(merged) > LIMITS.freeFormBytes) {
    const message = `must be at most ${LIMITS.freeFormBytes} bytes as JSON, together with what is there`;
    throw new AppError('validation', {
      detail: `${member}: ${message}`,
      issues: [{ path: member, message }],
    });
  }
  return merged;
}

/**
 * Deletes a message: its author, and whoever may write in the channel. One with replies stays as a tombstone, until its last
 * reply is deleted too.
 *
 * @throws not_found, forbidden
 */
export async function deleteMessage(scope: Scope, channelId: string, messageId: string): Promise<true> {
  const channel = await requireAuthorOrWriter(scope, channelId, messageId);
  await recordChanges(scope, channel, async (log) => {
    const { message } = await log('message:delete', messageId, async (sql, at, { is_deleted }) => {
      if (is_deleted) throw noSuchMessage();
      await sql.rows(REWRITE, [channelId, messageId, '', '{}', JSON.stringify(ERASED_META)]);
      await sql.rows(ENTOMB, [channelId, messageId, at]);
      await sql.rows(DELETE, [channelId, messageId]);
    });
    const { parent_id: parentId } = message;
    if (parentId === null) return;
    const root = await log('message:reply', parentId, async (sql) => {
      await sql.rows(UNCOUNT, [channelId, parentId]);
    });
    if (!root.is_deleted || root.message.reply_count > 0) return;
    await log('message:delete', parentId, async (sql) => {
      await sql.rows(DELETE, [channelId, parentId]);
    });
  });
  return true;
}

async function requireAuthorOrWriter(
  scope: Scope,
  channelId: string,
  messageId: string,
): Promise<ChannelAccess> {
  const channel = await requireChannel(scope, channelId, 'read');
  const [row] = await scope.sql.rows(VIEW_ONE, [channelId, messageId]);
  if (!row) throw noSuchMessage();
  if (row.view.user_id !== scope.actor.id && !channel.can_write) throw new AppError('forbidden');
  return channel;
}
