import { record } from '../audit/audit.record.ts';
import type { ChannelAccess } from '../channelbase/channels.access.repository.ts';
import { found, requireChannel } from '../channelbase/channels.access.service.ts';
import { AppError, invalid } from '../core/errors.ts';
import { Json } from '../core/json/json.ts';
import type { Scope } from '../core/scope.ts';
import { LIMITS } from '../core/wire.ts';
import type { Sql } from '../database/sql.ts';
import { attachmentsOf } from '../files/attachments.ts';
import { updateMentions } from '../mentions/mentions.service.ts';
import {
  DELETE,
  EDIT,
  ENTOMB,
  LINK_FILES,
  REWRITE,
  REWRITE_EDITED,
  UNCOUNT,
} from './messages.changes.repository.ts';
import { ERASED, ERASED_FORM, noSuchMessage, recordChanges } from './messages.changes.ts';
import {
  type FoundList,
  type LinePage,
  listMessages as queryMessages,
  listPinned as queryPinned,
  listThread as queryThread,
  listWithFiles as queryWithFiles,
  readVersion,
  type ThreadPage,
} from './messages.lists.repository.ts';
import { bytesOf } from './messages.post.ts';
import { readMessage, VIEW_ONE } from './messages.repository.ts';
import type { MessageView } from './messages.schema.ts';

type Answer = Json<MessageView[]>;

/**
 * Reads a list. The text of a newest page is kept, and sent again while its channel has the same version.
 *
 * @param place names a newest page; null for others
 */
async function answerOf(
  { sql, actor, keptPages }: Scope,
  channelId: string,
  place: string | null,
  read: () => Promise<FoundList>,
): Promise<Answer> {
  const kept = place === null ? undefined : keptPages.get(place);
  if (kept && found(await readVersion(sql, actor, channelId)).version === kept.version) return kept.answer;
  const begun = keptPages.begin();
  const { messages, version } = found(await read());
  if (!messages) throw noSuchMessage();
  return place === null ? new Json(JSON.stringify(messages)) : keptPages.put(place, begun, version, messages);
}

/** The place of the newest page of a channel, or of a thread. */
function placeOf(id: string, { skip, limit, before, after, around, at }: LinePage): string | null {
  const isNewest = skip === 0 && [before, after, around, at].every((anchor) => anchor === undefined);
  return isNewest ? `${id} ${limit}` : null;
}

/** A page of the main line, newest first. @throws not_found, forbidden */
export const listMessages = (scope: Scope, channelId: string, page: LinePage): Promise<Answer> =>
  answerOf(scope, channelId, placeOf(channelId, page), () =>
    queryMessages(scope.sql, scope.actor, channelId, page),
  );

const PAGE = 20;

/**
 * The pinned messages, also in threads; the newest pin first, 20 a page.
 *
 * @param page counts from 1
 * @throws not_found, forbidden
 */
export const listPinned = (scope: Scope, channelId: string, page: number): Promise<Answer> =>
  answerOf(scope, channelId, null, () => queryPinned(scope.sql, scope.actor, channelId, numbered(page)));

/**
 * The messages that carry uploaded files, also in threads; newest first, 20 a page.
 *
 * @param page counts from 1
 * @throws not_found, forbidden
 */
export const listWithFiles = (scope: Scope, channelId: string, page: number): Promise<Answer> =>
  answerOf(scope, channelId, null, () => queryWithFiles(scope.sql, scope.actor, channelId, numbered(page)));

const numbered = (page: number) => ({ skip: (page - 1) * PAGE, limit: PAGE });

/** A page of the replies to a message, newest first. @throws not_found, forbidden */
export const listThread = (
  scope: Scope,
  channelId: string,
  messageId: string,
  page: ThreadPage,
): Promise<Answer> =>
  // Ids of threads are unique only in their channel.
  answerOf(scope, channelId, placeOf(`${channelId} ${messageId}`, page), () =>
    queryThread(scope.sql, scope.actor, channelId, messageId, page),
  );

/** @throws not_found, forbidden */
export async function getMessage(scope: Scope, channelId: string, messageId: string): Promise<MessageView> {
  const { message } = found(await readMessage(scope.sql, scope.actor, channelId, messageId));
  if (!message) throw noSuchMessage();
  return message;
}

export interface Edit {
  id: string;
  message_id: string;
  content: string;
  data?: Record<string, unknown> | null | undefined;
  meta?: Record<string, unknown> | null | undefined;
}

/**
 * Changes a message. Allowed for its author and for people who may moderate the channel. `data` and `meta`
 * are merged with the stored members.
 *
 * @throws not_found, forbidden, rate_limited, quota_exceeded, bad_request for a file that the caller may not
 *   attach, and validation if `data` or `meta` would become too large
 */
export async function editMessage(scope: Scope, edit: Edit): Promise<MessageView> {
  const { id: channelId, message_id: messageId, content } = edit;
  const channel = await requireAuthorOrModerator(scope, channelId, messageId);
  await scope.quotas.message(scope.actor.id, bytesOf(edit));
  const sent = withoutNullFiles(edit.data);
  const files = sent?.files === undefined ? undefined : await attachmentsOf(scope, sent);
  const { message } = await recordChanges(scope, channel, (log) =>
    log(
      'message:update',
      messageId,
      async ({ sql, at, before }) => {
        const { view, author_type, is_deleted } = await before();
        if (is_deleted) throw noSuchMessage();
        if (author_type === 'model' && view.meta.done === false) throw stillWritten();
        const data = mergeForm('data', view.data, sent);
        const meta = mergeForm('meta', view.meta, edit.meta);
        await recordModeration(scope, sql, 'message.update', view);
        await sql.rows(EDIT, {
          channelId,
          messageId,
          content,
          data: JSON.stringify(data),
          meta: JSON.stringify(meta),
          at,
        });
        if (files) await sql.rows(LINK_FILES, { channelId, messageId, files });
        const authorId = author_type === 'user' ? view.user_id : null;
        await updateMentions(sql, { channelId, messageId, content, authorId });
        await sql.rows(REWRITE_EDITED, { channelId, messageId });
      },
      { hasNewWords: true },
    ),
  );
  return message;
}

const stillWritten = () =>
  new AppError('bad_request', { detail: 'A model still writes this message. Stop it first.' });

/** Null for `files` means not sent: the stored files stay. */
function withoutNullFiles(data: Edit['data']): Edit['data'] {
  if (data?.files !== null) return data;
  const { files: _null, ...others } = data;
  return others;
}

/** The sent members, merged with the stored ones. @throws validation if they are too large together */
function mergeForm(
  member: 'data' | 'meta',
  stored: Record<string, unknown>,
  sent: Record<string, unknown> | null | undefined,
): Record<string, unknown> {
  const merged = { ...stored, ...sent };
  if (Buffer.byteLength(JSON.stringify(merged)) > LIMITS.freeFormBytes) {
    throw invalid(
      member,
      `must be at most ${LIMITS.freeFormBytes} bytes as JSON, together with what is there`,
    );
  }
  return merged;
}

/**
 * Deletes a message. Allowed for its author and for people who may moderate the channel. A message with
 * replies stays as a tombstone until its last reply is deleted.
 *
 * @throws not_found, forbidden
 */
export async function deleteMessage(scope: Scope, channelId: string, messageId: string): Promise<true> {
  const channel = await requireAuthorOrModerator(scope, channelId, messageId);
  await recordChanges(scope, channel, async (log) => {
    const { message } = await log('message:delete', messageId, async ({ sql, at, before }) => {
      const { view, is_deleted } = await before();
      if (is_deleted) throw noSuchMessage();
      await recordModeration(scope, sql, 'message.delete', view);
      const { created_at: updated_at } = view;
      const own = JSON.stringify({ ...ERASED, updated_at });
      const quoted = JSON.stringify({ ...ERASED_FORM, updated_at });
      await sql.rows(REWRITE, { channelId, messageId, own, quoted });
      await sql.rows(ENTOMB, { channelId, messageId, at });
      await sql.rows(DELETE, { channelId, messageId });
    });
    const { parent_id: parentId } = message;
    if (parentId === null) return;
    const root = await log('message:reply', parentId, async ({ sql }) => {
      await sql.rows(UNCOUNT, { channelId, messageId: parentId });
    });
    if (!root.is_deleted || root.message.reply_count > 0) return;
    await log('message:delete', parentId, async ({ sql, before }) => {
      await before();
      await sql.rows(DELETE, { channelId, messageId: parentId });
    });
  });
  return true;
}

/**
 * Writes an audit entry for a change of another person's message: the author and the channel, but not the
 * text.
 */
async function recordModeration(
  scope: Scope,
  sql: Sql,
  action: 'message.update' | 'message.delete',
  { id, channel_id, user_id }: MessageView,
): Promise<void> {
  if (user_id === scope.actor.id) return;
  await record(scope, sql, { action, target: { type: 'message', id }, before: { channel_id, user_id } });
}

async function requireAuthorOrModerator(
  scope: Scope,
  channelId: string,
  messageId: string,
): Promise<ChannelAccess> {
  const channel = await requireChannel(scope, channelId, 'read');
  const [row] = await scope.sql.rows(VIEW_ONE, { channelId, messageId });
  if (!row) throw noSuchMessage();
  if (row.view.user_id !== scope.actor.id && !channel.can_moderate) throw new AppError('forbidden');
  return channel;
}
