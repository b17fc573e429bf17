import { Json } from '../core/json.ts';
import { type Sql, statement } from '../database/sql.ts';
import { CAN_READ, type Caller } from './channels.repository.ts';
import type { MessageView } from './messages.schema.ts';

/** SQL for what people wrote in the row `m`, as it is. */
interface Form {
  content: string;
  data: string;
  meta: string;
}
const whole = (m: string): Form => ({ content: `${m}.content`, data: `${m}.data`, meta: `${m}.meta` });

/** SQL for the author of the row `m` with its user `u`. What a program posted shows the webhook by its name of today. */
const author = (m: string, u: string) => `case
    when ${m}.webhook_id is not null then json_build_object('id', ${m}.webhook_id, 'name', coalesce(
      (select w.name from channel_webhook w where w.id = ${m}.webhook_id), 'Deleted Webhook'), 'role', 'webhook')
    when ${u}.id is not null then json_build_object('id', ${u}.id, 'name', ${u}.name, 'role', ${u}.role) end`;

/** SQL members of a message from the row `m` with its author `u`; both are SQL names. */
export const fields = (
  m: string,
  u: string,
  { content, data, meta }: Form = whole(m),
) => `'id', ${m}.id, 'user_id', ${m}.user_id, 'channel_id', ${m}.channel_id,
  'content', ${content}, 'reply_to_id', ${m}.reply_to_id, 'parent_id', ${m}.parent_id,
  'is_pinned', ${m}.is_pinned, 'pinned_by', ${m}.pinned_by, 'pinned_at', ${m}.pinned_at,
  'data', ${data}, 'meta', ${meta}, 'user', ${author(m, u)},
  'created_at', ${m}.created_at, 'updated_at', ${m}.updated_at`;

/** How many people a group of reactions names; the count is whole. */
const REACTORS = 100;
const reactor = "json_build_object('id', ru.id, 'name', ru.name)";
const reactionsTo = (m: string) => `r.channel_id = ${m}.channel_id and r.message_id = ${m}.id`;

/**
 * SQL for the reactions to the row `m`: one group a name, in the order of their first use, with its first hundred people. Who
 * reads is named too when they are a later one: `reader` is SQL for their id.
 */
const reactions = (reader?: string) => {
  const own = `case when g.count > ${REACTORS} then array(
      select ${reactor} from message_reaction r join users ru on ru.id = r.user_id
       where ${reactionsTo('m')} and r.name = g.name and r.user_id = ${reader}
         and not exists (select from unnest(g.users) named where named ->> 'id' = r.user_id::text)) end`;
  return `coalesce((select json_agg(json_build_object('name', g.name, 'count', g.count,
      'users', to_json(${reader ? `g.users || ${own}` : 'g.users'})) order by g.first_at, g.name) from (
      select r.name, count(*), min(r.created_at) as first_at,
             (array_agg(${reactor} order by r.created_at, ru.id))[:${REACTORS}] as users
        from message_reaction r join users ru on ru.id = r.user_id
       where ${reactionsTo('m')} group by r.name) g), '[]'::json)`;
};

const view = (own: Form, quoted: Form, reader?: string) => `json_build_object(${fields('m', 'u', own)},
  'reactions', ${reactions(reader)}, 'reply_count', m.reply_count, 'latest_reply_at', m.latest_reply_at,
  'reply_to_message', case when q.id is not null then json_build_object(${fields('q', 'qu', quoted)}) end)`;

export const JOINS = `left join users u on u.id = m.user_id
  left join message q on q.channel_id = m.channel_id and q.id = m.reply_to_id
  left join users qu on qu.id = q.user_id`;

/** The next moment of a channel's clock: now, or just after the last one. Whole microseconds, in nanoseconds. */
export const NEXT_MOMENT =
  'greatest(last_event_at + 1000, (extract(epoch from now()) * 1000000)::bigint * 1000)';

/*
 * A page has a budget of bytes (docs/decisions/pages-in-bytes.md). The messages that fit into it, from the first on, are whole;
 * of the others, long content is cut and long `data` and `meta` are left out, and `meta.abridged` says so.
 */
const PAGE_BYTES = 4 * 1024 * 1024;
const SHORT_BYTES = 4096;
const CUT_CHARACTERS = 1000;

const bytesOf = (m: string) =>
  `octet_length(to_json(${m}.content)::text) + octet_length(${m}.data::text) + octet_length(${m}.meta::text)`;

/** SQL for whether a form may have no more bytes than that, as JSON, by what it takes where it is stored: a list of digits six times as much. */
const mayBeWithin = (form: string, bytes: number) => `pg_column_size(${form}) <= ${8 * bytes}`;
/** SQL for whether it has. What is too large anyway is not fetched. */
const isWithin = (form: string, bytes: number) =>
  `(${mayBeWithin(form, bytes)} and octet_length(${form}::text) <= ${bytes})`;

const abridged = (m: string, isWhole: string): Form => {
  const kept = (member: string) =>
    `case when ${isWithin(`${m}.${member}`, CUT_CHARACTERS)} then ${m}.${member} else '{}' end`;
  const unless = (wholeForm: string, cut: string) => `case when ${isWhole} then ${wholeForm} else ${cut} end`;
  return {
    content: unless(`${m}.content`, `left(${m}.content, ${CUT_CHARACTERS})`),
    data: unless(`${m}.data`, kept('data')),
    meta: unless(`${m}.meta`, `${kept('meta')} || '{"abridged": true}'`),
  };
};

/** As `whole`, but abridged beyond the length of a short message: for events that another one with all of it goes before, or follows. */
export const inShort = (m: string): Form =>
  abridged(
    m,
    `${mayBeWithin(`${m}.data`, SHORT_BYTES)} and ${mayBeWithin(`${m}.meta`, SHORT_BYTES)} and ${bytesOf(m)} <= ${SHORT_BYTES}`,
  );

/** SQL for the wire form of the row `m`, whoever reads it; needs the joins of `JOINS`. */
export const VIEW = view(whole('m'), whole('q'));
/** The same as the caller (`$1`) reads it. */
const READ_VIEW = view(whole('m'), whole('q'), '$1');
/** The same in an event that tells of new words, and in one that tells of anything else. */
export const EDITED_VIEW = view(whole('m'), inShort('q'));
export const EVENT_VIEW = view(inShort('m'), inShort('q'));
/** The wire form of the row `m` in a list of the caller's (`$1`); needs the joins of `JOINS`, and the row to come from `withinBudget`. */
export const LISTED = view(abridged('m', 'm.is_whole'), abridged('q', 'm.is_whole'), '$1');

/** SQL for the messages of a page, each with whether it is sent whole. @param page a select of rows of `message`, in any order */
export const withinBudget = (page: string, order: string) =>
  `select p.*, p.bytes <= ${SHORT_BYTES} or sum(p.bytes) over (order by p.${order} desc) <= ${PAGE_BYTES} as is_whole
     from (
       select m.*, ${bytesOf('m')} + case when m.reply_to_id is null then 0 else (
                select ${bytesOf('q')} from message q where q.channel_id = m.channel_id and q.id = m.reply_to_id
              ) end as bytes
         from (${page}) m
     ) p`;

interface ListRow {
  can_read: boolean;
  /** Whether there is what the list belongs to. */
  is_there: boolean;
  messages: string | null;
}

/**
 * A list of messages of the channel `$3`, `$4` of them after the first `$5`. One statement decides whether the caller may read and
 * reads; the list leaves PostgreSQL as the JSON that the caller gets.
 */
const list = (name: string, which: string, order: string, isThere = 'true') =>
  statement<ListRow>(
    name,
    `select ${CAN_READ} as can_read, ${isThere} as is_there, case when ${CAN_READ} then (
       select coalesce(json_agg(${LISTED} order by m.${order} desc), '[]'::json) from (
         ${withinBudget(
           `select m.* from message m where m.channel_id = $3 and ${which} order by m.${order} desc limit $4 offset $5`,
           order,
         )}
       ) m ${JOINS})::text end as messages
       from channel c where c.id = $3`,
  );

const LIST = list('message.list', 'm.parent_id is null', 'created_at');
const PINNED = list('message.pinned', 'm.is_pinned', 'pinned_at');
const THREAD = list(
  'message.thread',
  'm.parent_id = $6',
  'created_at',
  'exists (select from message root where root.channel_id = c.id and root.id = $6)',
);

const GET = statement<{ can_read: boolean; message: MessageView | null }>(
  'message.get',
  `select ${CAN_READ} as can_read,
     (select ${READ_VIEW} from message m ${JOINS} where m.channel_id = c.id and m.id = $4) as message
     from channel c where c.id = $3`,
);

export interface Page {
  skip: number;
  limit: number;
}

/** What a read finds: undefined without a channel, null when the caller may not read it. */
export type Found<T> = T | null | undefined;

/** `messages` is null when there is not what they should belong to. */
export type FoundList = Found<{ messages: Json<MessageView[]> | null }>;

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
  ...further: string[]
): Promise<FoundList> {
  const values = [caller.id, caller.role === 'admin', channelId, limit, skip, ...further];
  const [row] = await sql.rows(of, values);
  if (!row) return undefined;
  if (row.messages === null) return null;
  return { messages: row.is_there ? new Json(row.messages) : null };
}

/** The newest messages of a channel's main line. */
export const listMessages = listing(LIST);

/** The pinned messages of a channel, those of threads too, the newest pin first. */
export const listPinned = listing(PINNED);

/** The replies in the thread of a message, newest first. */
export const listThread = (
  sql: Sql,
  caller: Caller,
  channelId: string,
  rootId: string,
  page: Page,
): Promise<FoundList> => readList(sql, THREAD, caller, channelId, page, rootId);

/** One message; `message` is null when the channel has no such one. */
export async function readMessage(
  sql: Sql,
  caller: Caller,
  channelId: string,
  messageId: string,
): Promise<Found<{ message: MessageView | null }>> {
  const [row] = await sql.rows(GET, [caller.id, caller.role === 'admin', channelId, messageId]);
  if (!row) return undefined;
  return row.can_read ? { message: row.message } : null;
}

/** The message in its wire form, whoever asks. */
export const VIEW_ONE = statement<{ view: MessageView; is_deleted: boolean }>(
  'message.view',
  `select ${VIEW} as view, m.deleted_at is not null as is_deleted from message m ${JOINS} where m.channel_id = $1 and m.id = $2`,
);
