import { setTimeout as delay } from 'node:timers/promises';
import { Counter } from 'prom-client';
import { readAccess } from '../channelbase/channels.access.repository.ts';
import type { AppError } from '../core/errors.ts';
import { outageIn } from '../core/outage.ts';
import type { Actor, Parts, Role } from '../core/scope.ts';
import { EDIT, LINK_FILES } from '../messages/messages.changes.repository.ts';
import { recordIfChanged, Unchanged } from '../messages/messages.changes.ts';
import type { MessageView } from '../messages/messages.schema.ts';
import { storable, storableJson } from './growing/growing.calls.ts';
import { finishReply, type OpenReply } from './replies.repository.ts';

const ended = new Counter({
  name: 'parley_replies_total',
  help: 'Replies of models in channels that have ended: done, stopped, or the code of the failure; by connection and kind of the provider',
  labelNames: ['outcome', 'kind', 'connection'],
});

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
  meta: Record<string, unknown> & Partial<ReturnType<typeof failureMeta>>;
  /** Items of `data.files`, and the ids of the stored files among them. */
  files?: { items: readonly object[]; ids: readonly string[] };
}

/** The members of `meta` of a reply that failed. */
export const failureMeta = ({ code, message }: Pick<AppError, 'code' | 'message'>) => ({
  error: { code, message },
});

/** A failed reply without any text shows the reason as its text. */
const readable = (content: string, { error }: ReplyEnd['meta']): string =>
  content.trim() === '' && error ? error.message : content;

/** The provider of a reply, for the metrics; empty where none has answered or failed. */
interface AnsweredBy {
  kind: string;
  connection: string;
}

/**
 * Ends a reply, with one `message:update`, and counts it. While the database is away, it is tried again for a
 * minute.
 *
 * @returns the message; undefined if the reply has ended before, belongs to another attempt, or was deleted
 */
export async function endReply(
  parts: Pick<Parts, 'sql' | 'bus'>,
  reply: OpenReply,
  end: ReplyEnd,
  by: AnsweredBy = { kind: '', connection: '' },
): Promise<MessageView | undefined> {
  const message = await beyondOutage(() => storeEnd(parts, reply, end));
  const { error, stopped } = end.meta;
  if (message) ended.inc({ outcome: error?.code ?? (stopped ? 'stopped' : 'done'), ...by });
  return message;
}

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
