import { CALLER } from '../core/caller.ts';
import { authorColumns, authorJson } from './messages.author.ts';
import type { MessageView } from './messages.schema.ts';

/* The forms of a message in SQL: JSON for events, which PostgreSQL stores, and columns for lists. */

/** SQL for the content, data and meta of the row `m`. */
interface Form {
  content: string;
  data: string;
  meta: string;
}
/** SQL for `data` with an array of `files`. Stored data may lack it. */
const withFiles = (data: string) =>
  `case when jsonb_typeof(${data} -> 'files') = 'array' then ${data} else ${data} || '{"files": []}' end`;
const whole = (m: string): Form => ({
  content: `${m}.content`,
  data: withFiles(`${m}.data`),
  meta: `${m}.meta`,
});

/** SQL for the JSON members of a message, from the row `m` and its author `u`. Both are aliases. */
export const fields = (
  m: string,
  u: string,
  { content, data, meta }: Form = whole(m),
) => `'id', ${m}.id, 'user_id', ${m}.user_id, 'channel_id', ${m}.channel_id,
  'content', ${content}, 'reply_to_id', ${m}.reply_to_id, 'parent_id', ${m}.parent_id,
  'is_pinned', ${m}.is_pinned, 'pinned_by', ${m}.pinned_by, 'pinned_at', ${m}.pinned_at,
  'data', ${data}, 'meta', ${meta}, 'user', ${authorJson(m, u)},
  'created_at', ${m}.created_at, 'updated_at', ${m}.updated_at`;

/** The maximum of people in a group of reactions, except for the reader. The count includes all. */
export const REACTORS = 100;
const reactor = "json_build_object('id', ru.id, 'name', ru.name)";
const reactionsTo = (m: string) => `r.channel_id = ${m}.channel_id and r.message_id = ${m}.id`;

/**
 * SQL for the reactions to the row `m`: one group for each name, in the order of their first use, with its
 * first hundred people. `reader` is SQL for the id of a reader, who is included also if they reacted later.
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

/*
 * A page has a budget of bytes (docs/decisions/pages-in-bytes.md). Messages are whole while they fit, from
 * the first on. In the rest, long content is cut, long `data` and `meta` are left out, and `meta.abridged` is
 * true.
 */
const PAGE_BYTES = 4 * 1024 * 1024;
const SHORT_BYTES = 4096;
const CUT_CHARACTERS = 1000;

/*
 * Upper bounds: text as JSON has at most six times its bytes, and stored JSON less than eight times its
 * stored size (a list of digits). They are enough for nearly all messages, and writing each message as JSON
 * to count its bytes would cost more than the page.
 */
const mostBytes = (m: string) =>
  `8 * (octet_length(${m}.content) + pg_column_size(${m}.data) + pg_column_size(${m}.meta))`;
const bytesOf = (m: string) => `case when ${mostBytes(m)} <= ${SHORT_BYTES} then ${mostBytes(m)} else
  octet_length(to_json(${m}.content)::text) + octet_length(${m}.data::text) + octet_length(${m}.meta::text) end`;

/**
 * SQL for whether a JSON value may fit into a number of bytes, from its stored size: a list of digits has six
 * times as much.
 */
const mayBeWithin = (form: string, bytes: number) => `pg_column_size(${form}) <= ${8 * bytes}`;
/** SQL for whether it fits. Values that are certainly too large are not read. */
const isWithin = (form: string, bytes: number) =>
  `(${mayBeWithin(form, bytes)} and octet_length(${form}::text) <= ${bytes})`;

const abridged = (m: string, isWhole: string): Form => {
  const kept = (member: string) =>
    `case when ${isWithin(`${m}.${member}`, CUT_CHARACTERS)} then ${m}.${member} else '{}' end`;
  const unless = (wholeForm: string, cut: string) => `case when ${isWhole} then ${wholeForm} else ${cut} end`;
  return {
    content: unless(`${m}.content`, `left(${m}.content, ${CUT_CHARACTERS})`),
    data: withFiles(unless(`${m}.data`, kept('data'))),
    // A model stays named: a message that quotes it calls it.
    meta: unless(
      `${m}.meta`,
      `${kept('meta')} || case when ${m}.author_type = 'model' then jsonb_build_object('model_id', ${m}.author_id) else '{}' end || '{"abridged": true}'`,
    ),
  };
};

/**
 * As `whole`, but a long message is abridged: for events that come before or after an event with the whole
 * message.
 */
export const inShort = (m: string): Form =>
  abridged(
    m,
    `${mayBeWithin(`${m}.data`, SHORT_BYTES)} and ${mayBeWithin(`${m}.meta`, SHORT_BYTES)} and ${bytesOf(m)} <= ${SHORT_BYTES}`,
  );

/** A row of a list of messages. Only reactions, the quoted message, `data` and `meta` are JSON. */
export interface MessageRow
  extends Pick<
    MessageView,
    | 'id'
    | 'user_id'
    | 'channel_id'
    | 'content'
    | 'reply_to_id'
    | 'parent_id'
    | 'is_pinned'
    | 'pinned_by'
    | 'data'
    | 'meta'
    | 'reply_count'
    | 'reply_to_message'
  > {
  author_id: string | null;
  author_name: string;
  author_role: string;
  /** Times are nanoseconds, as text. */
  pinned_at: string | null;
  created_at: string;
  updated_at: string;
  latest_reply_at: string | null;
  /** Null if there are none. */
  reactions: MessageView['reactions'] | null;
}

/**
 * SQL for the columns of a `MessageRow`, from the row `m`, as the caller reads it. Needs `JOINS`.
 *
 * @param own the form of the message
 * @param quoted the form of the quoted message
 */
const columns = (
  own: Form,
  quoted: Form,
) => `m.id, m.user_id, m.channel_id, ${own.content} as content, m.reply_to_id,
  m.parent_id, m.is_pinned, m.pinned_by, m.pinned_at, ${own.data} as data, ${own.meta} as meta,
  ${authorColumns('m', 'u')}, m.created_at, m.updated_at,
  ${reactions(CALLER.id)} as reactions, m.reply_count, m.latest_reply_at,
  case when q.id is not null then json_build_object(${fields('q', 'qu', quoted)}) end as reply_to_message`;

/** SQL for the wire form of the row `m`, the same for all readers. Needs `JOINS`. */
export const VIEW = view(whole('m'), whole('q'));
/** The same as the caller reads it. */
export const READ_VIEW = view(whole('m'), whole('q'), CALLER.id);
/** The same for the event of an edit, and for events of other changes. */
export const EDITED_VIEW = view(whole('m'), inShort('q'));
export const EVENT_VIEW = view(inShort('m'), inShort('q'));
/** SQL for the columns of a `MessageRow` in a list, from the row `m` of `withinBudget`. Needs `JOINS`. */
export const LISTED = columns(abridged('m', 'm.is_whole'), abridged('q', 'm.is_whole'));

/** SQL for the messages of a page with `is_whole`. @param page a select of rows of `message`, in any order */
export const withinBudget = (page: string, order: string) =>
  `select p.*, p.bytes <= ${SHORT_BYTES} or sum(p.bytes) over (order by p.${order} desc) <= ${PAGE_BYTES} as is_whole
     from (
       select m.*, ${bytesOf('m')} + case when m.reply_to_id is null then 0 else (
                select ${bytesOf('q')} from message q where q.channel_id = m.channel_id and q.id = m.reply_to_id
              ) end as bytes
         from (${page}) m
     ) p`;

/** The view of a message, with its members in the order of the schema. */
export const messageOf = (row: MessageRow): MessageView => ({
  id: row.id,
  user_id: row.user_id,
  channel_id: row.channel_id,
  content: row.content,
  reply_to_id: row.reply_to_id,
  parent_id: row.parent_id,
  is_pinned: row.is_pinned,
  pinned_by: row.pinned_by,
  pinned_at: row.pinned_at === null ? null : Number(row.pinned_at),
  data: row.data,
  meta: row.meta,
  user: row.author_id === null ? null : { id: row.author_id, name: row.author_name, role: row.author_role },
  created_at: Number(row.created_at),
  updated_at: Number(row.updated_at),
  reactions: row.reactions ?? [],
  reply_count: row.reply_count,
  latest_reply_at: row.latest_reply_at === null ? null : Number(row.latest_reply_at),
  reply_to_message: row.reply_to_message,
});

/** The views of a list. An empty list has one row without a message. */
export const messagesOf = (rows: readonly MessageRow[]): MessageView[] =>
  rows.length === 1 && rows[0]?.id === null ? [] : rows.map(messageOf);
