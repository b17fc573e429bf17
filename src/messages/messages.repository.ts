import { CAN_READ } from '../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { MessageAuthor } from './messages.author.ts';
import type { MessageView } from './messages.schema.ts';
import { JOINS, READ_VIEW, VIEW } from './messages.view.repository.ts';

const GET = statement<
  { can_read: boolean; message: MessageView | null },
  CallerParams & { channelId: string; messageId: string }
>(
  'message.get',
  `select ${CAN_READ} as can_read,
     (select ${READ_VIEW} from message m ${JOINS} where m.channel_id = c.id and m.id = :messageId) as message
     from channel c where c.id = :channelId`,
);

/** The result of a read: undefined if the channel does not exist, null if the caller may not read it. */
export type Found<T> = T | null | undefined;

/** One message; `message` is null if the channel does not have it. */
export async function readMessage(
  sql: Sql,
  caller: Caller,
  channelId: string,
  messageId: string,
): Promise<Found<{ message: MessageView | null }>> {
  const [row] = await sql.rows(GET, { ...callerOf(caller), channelId, messageId });
  if (!row) return undefined;
  return row.can_read ? { message: row.message } : null;
}

export interface StoredMessage {
  /** The same for all readers. */
  view: MessageView;
  author_type: MessageAuthor['type'];
  is_deleted: boolean;
}

/** A message, without a check of access. */
export const VIEW_ONE = statement<StoredMessage, { channelId: string; messageId: string }>(
  'message.view',
  `select ${VIEW} as view, m.author_type, m.deleted_at is not null as is_deleted
     from message m ${JOINS} where m.channel_id = :channelId and m.id = :messageId`,
);
