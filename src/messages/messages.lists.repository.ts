import { CAN_READ } from '../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { onReplica, type Sql, type Statement, statement } from '../database/sql.ts';
import type { Found } from './messages.repository.ts';
import type { MessageView } from './messages.schema.ts';
import { JOINS, LISTED, type MessageRow, messagesOf, withinBudget } from './messages.view.repository.ts';

/** A row of a list: `id` is null in the one row of an empty list. */
interface ListRow extends MessageRow {
  can_read: boolean;
  /** Whether the root of the thread and the message of the window exist; true for other lists. */
  is_there: boolean;
  version: string;
}

/**
 * The maximum of a page. With a constant PostgreSQL keeps its plan; with a limit of any size it plans each
 * call anew, which takes longer than the read.
 */
const MOST = 200;

interface ListParams extends CallerParams {
  channelId: string;
  limit: number;
}
interface SkipParams extends ListParams {
  skip: number;
}
interface IdParams extends ListParams {
  anchorId: string;
}
interface TimeParams extends ListParams {
  at: number;
}
interface InThread {
  rootId: string;
}

interface ListForm {
  /** SQL for the messages of the page, in any order. */
  page: string;
  order?: 'created_at' | 'pinned_at';
  /** SQL for the time of the message at which a window lies: `a.anchor_at` in `isThere`, `c.anchor_at` in `page`. */
  anchor?: string;
  isThere?: string;
}

/** SQL for the version of the channel `c`: each event makes another one, and so does a restored backup. */
const VERSION = "c.last_event || ' ' || c.last_event_at";

/** A list of messages of a channel, the newest first. One statement checks access and reads. */
const list = <Params extends ListParams>(
  name: string,
  { page, order = 'created_at', anchor, isThere = 'true' }: ListForm,
) =>
  // With `offset 0` the anchor is read once; PostgreSQL would else read it again for each row.
  onReplica(
    statement<ListRow, Params>(
      name,
      `select c.can_read, c.is_there, c.version, listed.*
       from (select ${CAN_READ} as can_read, ${isThere} as is_there, ${VERSION} as version${anchor ? ', a.anchor_at' : ''}
               from channel c ${anchor ? `cross join lateral (select ${anchor} as anchor_at offset 0) a` : ''}
              where c.id = :channelId) c
       left join lateral (
         select ${LISTED}, m.${order} as place from (${withinBudget(page, order)}) m ${JOINS}
       ) listed on true
      order by listed.place desc`,
    ),
  );

/** SQL for the first messages of an order, among those that hold a condition. */
const first = (condition: string, order: string, { skip = '0', limit = ':limit' } = {}) =>
  `select m.* from (
     select m.* from message m where m.channel_id = :channelId and c.can_read and ${condition}
      order by m.${order} limit ${MOST} offset ${skip}
   ) m limit ${limit}`;

const newest = (condition: string, order: 'created_at' | 'pinned_at' = 'created_at') => ({
  page: first(condition, `${order} desc`, { skip: ':skip' }),
  order,
});
/** How far from the newest message nearly all pages lie. */
const NEAR = 2_000;
/**
 * The same for a page among the first messages. For an unknown offset PostgreSQL expects a tenth of the channel, so it plans each call anew
 * in a large one, which takes longer than the read. Here the offset lies in a part of constant size.
 */
const near = (condition: string) => ({
  page: `select m.* from (
     select m.* from (
       select m.* from message m where m.channel_id = :channelId and c.can_read and ${condition}
        order by m.created_at desc limit ${NEAR}
     ) m order by m.created_at desc limit ${MOST} offset :skip
   ) m limit :limit`,
});

const before = (condition: string) => first(`${condition} and m.created_at < c.anchor_at`, 'created_at desc');
const after = (condition: string) => first(`${condition} and m.created_at > c.anchor_at`, 'created_at');
/** The message of the anchor and those before it take the larger half. */
const around = (condition: string) =>
  `(${first(`${condition} and m.created_at <= c.anchor_at`, 'created_at desc', {
    limit: ':limit::int - :limit::int / 2',
  })}) union all (${first(`${condition} and m.created_at > c.anchor_at`, 'created_at', { limit: ':limit::int / 2' })})`;

const MAIN_LINE = 'm.parent_id is null';
/** SQL for the time of a message; of a reply, that of its root. Null if the channel does not have it. */
const IN_MAIN_LINE = `(select coalesce(
    (select root.created_at from message root where root.channel_id = c.id and root.id = m.parent_id), m.created_at)
  from message m where m.channel_id = c.id and m.id = :anchorId)`;
const inMainLine = { anchor: IN_MAIN_LINE, isThere: 'a.anchor_at is not null' };
/** SQL for the time of the first message at or after a time, or of the newest message. */
const AT = `coalesce(
  (select m.created_at from message m where m.channel_id = c.id and ${MAIN_LINE} and m.created_at >= :at order by m.created_at limit 1),
  (select m.created_at from message m where m.channel_id = c.id and ${MAIN_LINE} order by m.created_at desc limit 1))`;

const THREAD = 'm.parent_id = :rootId';
const ROOT_EXISTS = 'exists (select from message root where root.channel_id = c.id and root.id = :rootId)';
const inThread = {
  anchor: `(select m.created_at from message m where m.channel_id = c.id and m.id = :anchorId and ${THREAD})`,
  isThere: 'a.anchor_at is not null',
};

const LISTS = {
  near: list<SkipParams>('message.list_near', near(MAIN_LINE)),
  newest: list<SkipParams>('message.list', newest(MAIN_LINE)),
  before: list<IdParams>('message.list_before', { page: before(MAIN_LINE), ...inMainLine }),
  after: list<IdParams>('message.list_after', { page: after(MAIN_LINE), ...inMainLine }),
  around: list<IdParams>('message.list_around', { page: around(MAIN_LINE), ...inMainLine }),
  at: list<TimeParams>('message.list_at', { page: around(MAIN_LINE), anchor: AT }),
};
const PINNED = list<SkipParams>('message.pinned', newest('m.is_pinned', 'pinned_at'));
const HAS_FILES =
  'exists (select from message_file mf where mf.channel_id = m.channel_id and mf.message_id = m.id)';
const WITH_FILES = list<SkipParams>('message.with_files', newest(HAS_FILES));
const THREADS = {
  newest: list<SkipParams & InThread>('message.thread', { ...newest(THREAD), isThere: ROOT_EXISTS }),
  before: list<IdParams & InThread>('message.thread_before', { page: before(THREAD), ...inThread }),
  after: list<IdParams & InThread>('message.thread_after', { page: after(THREAD), ...inThread }),
  around: list<IdParams & InThread>('message.thread_around', { page: around(THREAD), ...inThread }),
};

export interface Page {
  skip: number;
  limit: number;
}

/** A page of a thread: at a number of messages below the newest, or below, above or around a message. */
export interface ThreadPage extends Page {
  before?: string | undefined;
  after?: string | undefined;
  around?: string | undefined;
}

/** A page of the main line: as of a thread, or around a time in nanoseconds. */
export interface LinePage extends ThreadPage {
  at?: number | undefined;
}

/** `messages` is null if the root of the thread, or the message of the window, does not exist. */
export type FoundList = Found<{ messages: MessageView[] | null; version: string }>;

async function readList<Params extends ListParams>(
  sql: Sql,
  of: Statement<ListRow, Params>,
  params: Params,
): Promise<FoundList> {
  const rows = await sql.rows(of, params as Params & Record<never, never>);
  const [first] = rows;
  if (!first) return undefined;
  if (!first.can_read) return null;
  return { messages: first.is_there ? messagesOf(rows) : null, version: first.version };
}

const VERSION_OF = statement<{ can_read: boolean; version: string }, CallerParams & { channelId: string }>(
  'message.version',
  `select ${CAN_READ} as can_read, ${VERSION} as version from channel c where c.id = :channelId`,
);

/** The version of a channel, which each of its events changes. */
export async function readVersion(
  sql: Sql,
  caller: Caller,
  channelId: string,
): Promise<Found<{ version: string }>> {
  const [row] = await sql.rows(VERSION_OF, { ...callerOf(caller), channelId });
  return row?.can_read === false ? null : row;
}

/** The messages of a channel's main line. */
export function listMessages(
  sql: Sql,
  caller: Caller,
  channelId: string,
  { skip, limit, before, after, around, at }: LinePage,
): Promise<FoundList> {
  const common = { ...callerOf(caller), channelId, limit };
  if (before !== undefined) return readList(sql, LISTS.before, { ...common, anchorId: before });
  if (after !== undefined) return readList(sql, LISTS.after, { ...common, anchorId: after });
  if (around !== undefined) return readList(sql, LISTS.around, { ...common, anchorId: around });
  if (at !== undefined) return readList(sql, LISTS.at, { ...common, at });
  const of = skip + limit <= NEAR ? LISTS.near : LISTS.newest;
  return readList(sql, of, { ...common, skip });
}

/** The pinned messages of a channel, also in threads; the newest pin first. */
export const listPinned = (
  sql: Sql,
  caller: Caller,
  channelId: string,
  { skip, limit }: Page,
): Promise<FoundList> => readList(sql, PINNED, { ...callerOf(caller), channelId, limit, skip });

/** The messages of a channel that carry uploaded files, also in threads. */
export const listWithFiles = (
  sql: Sql,
  caller: Caller,
  channelId: string,
  { skip, limit }: Page,
): Promise<FoundList> => readList(sql, WITH_FILES, { ...callerOf(caller), channelId, limit, skip });

/** The replies in the thread of a message. */
export function listThread(
  sql: Sql,
  caller: Caller,
  channelId: string,
  rootId: string,
  { skip, limit, before, after, around }: ThreadPage,
): Promise<FoundList> {
  const common = { ...callerOf(caller), channelId, limit, rootId };
  if (before !== undefined) return readList(sql, THREADS.before, { ...common, anchorId: before });
  if (after !== undefined) return readList(sql, THREADS.after, { ...common, anchorId: after });
  if (around !== undefined) return readList(sql, THREADS.around, { ...common, anchorId: around });
  return readList(sql, THREADS.newest, { ...common, skip });
}
