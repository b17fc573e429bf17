import { setTimeout as delay } from 'node:timers/promises';
import { readAccess } from '../channelbase/channels.access.repository.ts';
import type { AppError } from '../core/errors.ts';
import { outageIn } from '../core/outage.ts';
import type { Actor, Parts, Role } from '../core/scope.ts';
import { EDIT, LINK_FILES } from '../messages/messages.changes.repository.ts';
import { recordIfChanged, Unchanged } from '../messages/messages.changes.ts';
import type { MessageView } from '../messages/messages.schema.ts';
import { storable, storableJson } from './growing/growing.calls.ts';
import { finishReply, type OpenReply } from './replies.repository.ts';

/** How long the end of a reply is tried again while the database is away. */
const OUTAGE_SECONDS = 60;

/** Does work for the end of a reply. While the database is away, it is tried again for a minute. */
export async function beyondOutage<T>(work: () => Promise<T>): Promise<T> {
  for (let waited = 0; ; waited += 1) {
    try {
      return await work();
    } catch (error) {
      if (outageIn(error) === undefined || waited >= OUTAGE_SECONDS) throw error;
      await delay(1_000);
    }
  }
}

/** How a reply ends. */
export interface ReplyEnd {
  /** The whole text; null keeps the text that was saved. */
  content: string | null;
  /** Further members of `data` and `meta`. */
  data?: Record<string, unknown>;
  meta: Record<string, unknown>;
  /** Items of `data.files`, and the ids of the stored files among them. */
  files?: { items: readonly object[]; ids: readonly string[] };
}

/** The members of `meta` of a reply that failed. */
export const failureMeta = ({ code, message }: Pick<AppError, 'code' | 'message'>) => ({
  error: { code, message },
});

/** A failed reply without any text shows the reason as its text. */
const readable = (content: string, { error }: Record<string, unknown>): string =>
  content.trim() === '' && error ? (error as { message: string }).message : content;

/**
 * Ends a reply, with one `message:update`. While the database is away, it is tried again for a minute.
 *
 * @returns the message; undefined if the reply has ended before, belongs to another attempt, or was deleted
 */
export const endReply = (
  parts: Pick<Parts, 'sql' | 'bus'>,
  reply: OpenReply,
  end: ReplyEnd,
): Promise<MessageView | undefined> => beyondOutage(() => storeEnd(parts, reply, end));

async function storeEnd(
  parts: Pick<Parts, 'sql' | 'bus'>,
  reply: OpenReply,
  { content, data, meta, files }: ReplyEnd,
): Promise<MessageView | undefined> {
  const { channel_id: channelId, message_id: messageId, attempt } = reply;
  const actor = actorOf(reply);
  const channel = await readAccess(parts.sql, actor, channelId);
  if (!channel) return undefined;
  const recorded = await recordIfChanged({ sql: parts.sql, bus: parts.bus, actor }, channel, (log) =>
    log(
      'message:update',
      messageId,
      async ({ sql, at, before }) => {
        if (!(await finishReply(sql, { channelId, messageId, attempt }))) throw new Unchanged();
        const { view, is_deleted } = await before();
        if (is_deleted) throw new Unchanged();
        const merged = { ...view.data, ...data, ...(files && { files: files.items }) };
        await sql.rows(EDIT, {
          channelId,
          messageId,
          content: storable(readable(content ?? view.content, meta)),
          data: storableJson(merged),
          meta: storableJson({ ...view.meta, ...meta, done: true }),
          at,
        });
        if (files) await sql.rows(LINK_FILES, { channelId, messageId, files: files.ids });
      },
      { hasNewWords: true },
    ),
  );
  return recorded?.message;
}

/** The author of the events of a reply: the person who called the model. */
export const actorOf = ({ user_id: id, user_name, user_role, key_id: keyId }: OpenReply): Actor => ({
  id,
  name: user_name ?? 'Deleted Account',
  role: (user_role ?? 'user') as Role,
  ...{ email: '', sessionId: null, keyId, granted: [], expiresAt: null },
});
