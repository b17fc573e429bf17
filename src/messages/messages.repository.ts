import { CAN_READ } from '../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { MessageAuthor } from './messages.author.ts';
import type { MessageView } from './messages.schema.ts';
import {
  JOINS,
  LISTED,
  type MessageRow,
  messagesOf,
  READ_VIEW,
  VIEW,
  withinBudget,
} from './messages.view.repository.ts';

/** A row of a list: `id` is null in the one row of an empty list. */
interface ListRow extends MessageRow {
  can_read: boolean;
  /** Whether the root of the thread exists; true for other lists. */
  is_there: boolean;
}

/**
 * The maximum of a page. With a constant PostgreSQL keeps its plan; with a limit of any size it plans each
 * call anew, which takes longer than the read.
 */
const MOST = 200;

interface ListParams extends CallerParams {
  channelId: string;
  limit: number;
  skip: number;
  /** The root, for lists of a thread. */
  rootId: string | null;
}

/** A list of messages of a channel. One statement checks access and reads. */
const list = (name: string, which: string, order: string, isThere = 'true') =>
  statement<ListRow, ListParams>(
    name,
    `select c.can_read, c.is_there, listed.*
       from (select ${CAN_READ} as can_read, ${isThere} as is_there from channel c where c.id = :channelId) c
       left join lateral (select ${LISTED}, m.${order} as place from (${withinBudget(
         `select m.* from (
            select m.* from message m where m.channel_id = :channelId and c.can_read and ${which}
             order by m.${order} desc limit ${MOST} offset :skip
          ) m limit :limit`,
         order,
       )}) m ${JOINS}) listed on true
      order by listed.place desc`,
  );

const LIST = list('message.list', 'm.parent_id is null', 'created_at');
const PINNED = list('message.pinned', 'm.is_pinned', 'pinned_at');
const THREAD = list(
  'message.thread',
  'm.parent_id = :rootId',
  'created_at',
  'exists (select from message root where root.channel_id = c.id and root.id = :rootId)',
);

const GET = statement<
  { can_read: boolean; message: MessageView | null },
  CallerParams & { channelId: string; messageId: string }
>(
  'message.get',
  `select ${CAN_READ} as can_read,
     (select ${READ_VIEW} from message m ${JOINS} where m.channel_id = c.id and m.id = :messageId) as message
     from channel c where c.id = :channelId`,
);

export interface Page {
  skip: number;
  limit: number;
}

/** The result of a read: undefined if the channel does not exist, null if the caller may not read it. */
export type Found<T> = T | null | undefined;

/** `messages` is null if the root of the thread does not exist. */
export type FoundList = Found<{ messages: MessageView[] | null }>;

type Listing = (sql: Sql, caller: Caller, channelId: string, page: Page) => Promise<FoundList>;

const listing =
  (of: typeof LIST): Listing =>
  (sql, caller, channelId, page) =>
    readList(sql, of, caller, channelId, page);

async function readList(
  sql: Sql,
  of: typeof LIST,
  caller: Caller,
  channelId: string,
  { skip, limit }: Page,
  rootId: string | null = null,
): Promise<FoundList> {
  const rows = await sql.rows(of, { ...callerOf(caller), channelId, limit, skip, rootId });
  const [first] = rows;
  if (!first) return undefined;
  if (!first.can_read) return null;
  return { messages: first.is_there ? messagesOf(rows) : null };
}

/** The newest messages of a channel's main line. */
export const listMessages = listing(LIST);

/** The pinned messages of a channel, also in threads; the newest pin first. */
export const listPinned = listing(PINNED);

/** The replies in the thread of a message, newest first. */
export const listThread = (
  sql: Sql,
  caller: Caller,
  channelId: string,
  rootId: string,
  page: Page,
): Promise<FoundList> => readList(sql, THREAD, caller, channelId, page, rootId);

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
