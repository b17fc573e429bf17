import { AppError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Scope } from '../core/scope.ts';
import { LIMITS } from '../core/wire.ts';
import type { ChannelAccess } from './channels.repository.ts';
import { noSuchChannel, requireChannel } from './channels.service.ts';
import { ERASED_META, noSuchMessage, recordChanges } from './messages.changes.ts';
import {
  DELETE,
  EDIT,
  ENTOMB,
  type Found,
  type Page,
  listMessages as queryMessages,
  REWRITE,
  readMessage,
  UNCOUNT,
  VIEW_ONE,
} from './messages.repository.ts';
import type { MessageView } from './messages.schema.ts';

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
  if (row.view.user_id !== scope.actor.id && !channel.can_moderate) throw new AppError('forbidden');
  return channel;
}
