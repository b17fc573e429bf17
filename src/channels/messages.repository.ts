import { Json } from '../core/json.ts';
import { type Sql, statement } from '../database/sql.ts';
import { CAN_READ, type Caller } from './channels.repository.ts';
import type { Author, MessageView } from './messages.schema.ts';

/** SQL members of a message from the row `m` with its author `u`; both are SQL names. */
const fields = (
  m: string,
  u: string,
) => `'id', ${m}.id, 'user_id', ${m}.user_id, 'channel_id', ${m}.channel_id,
  'content', ${m}.content, 'reply_to_id', ${m}.reply_to_id, 'parent_id', ${m}.parent_id,
  'is_pinned', ${m}.is_pinned, 'pinned_by', ${m}.pinned_by, 'pinned_at', ${m}.pinned_at,
  'data', ${m}.data, 'meta', ${m}.meta,
  'user', case when ${u}.id is not null then json_build_object('id', ${u}.id, 'name', ${u}.name, 'role', ${u}.role) end,
  'created_at', ${m}.created_at, 'updated_at', ${m}.updated_at`;

/** SQL for the wire form of the row `m`; needs the joins of `JOINS`. */
const VIEW = `json_build_object(${fields('m', 'u')},
  'reactions', '[]'::json, 'reply_count', m.reply_count, 'latest_reply_at', m.latest_reply_at,
  'reply_to_message', case when q.id is not null then json_build_object(${fields('q', 'qu')}) end)`;

const JOINS = `left join users u on u.id = m.user_id
  left join message q on q.channel_id = m.channel_id and q.id = m.reply_to_id
  left join users qu on qu.id = q.user_id`;

/** The next moment of a channel's clock: now, or just after the last one. Whole microseconds, in nanoseconds. */
const NEXT_MOMENT = 'greatest(last_event_at + 1000, (extract(epoch from now()) * 1000000)::bigint * 1000)';

interface ListRow {
  can_read: boolean;
  messages: string | null;
}

// One statement decides whether the caller may read and reads; the list leaves PostgreSQL as the JSON that the caller gets.
const LIST = statement<ListRow>(
  'message.list',
  `select ${CAN_READ} as can_read, case when ${CAN_READ} then (
     select coalesce(json_agg(view), '[]'::json) from (
       select ${VIEW} as view from message m ${JOINS}
        where m.channel_id = $3 and m.parent_id is null
        order by m.created_at desc limit $4 offset $5) as newest)::text end as messages
     from channel c where c.id = $3`,
);

const GET = statement<{ can_read: boolean; message: MessageView | null }>(
  'message.get',
  `select ${CAN_READ} as can_read,
     (select ${VIEW} from message m ${JOINS} where m.channel_id = c.id and m.id = $4) as message
     from channel c where c.id = $3`,
);

export interface Page {
  skip: number;
  limit: number;
}

/** What a read finds: undefined without a channel, null when the caller may not read it. */
export type Found<T> = T | null | undefined;

/** The newest messages of a channel's main line. */
export async function listMessages(
  sql: Sql,
  caller: Caller,
  channelId: string,
  { skip, limit }: Page,
): Promise<Found<Json<MessageView[]>>> {
  const values = [caller.id, caller.role === 'admin', channelId, limit, skip];
  const [row] = await sql.rows(LIST, values);
  if (!row) return undefined;
  return row.messages === null ? null : new Json(row.messages);
}

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

interface RelatedRow {
  /** The root of the thread that the parent belongs to. */
  root_id: string | null;
  quoted: MessageView['reply_to_message'];
}

const RELATED = statement<RelatedRow>(
  'message.related',
  `select (select coalesce(m.parent_id, m.id) from message m where m.channel_id = $1 and m.id = $2) as root_id,
          (select json_build_object(${fields('m', 'u')}) from message m left join users u on u.id = m.user_id
            where m.channel_id = $1 and m.id = $3) as quoted`,
);

/** What a new message refers to, within its channel. */
export async function readRelated(
  sql: Sql,
  channelId: string,
  parentId: string | null,
  replyToId: string | null,
): Promise<RelatedRow> {
  const [row] = await sql.rows(RELATED, [channelId, parentId, replyToId]);
  return row ?? { root_id: null, quoted: null };
}

interface PostedRow {
  event_id: number;
  /** As text: the bits of a nanosecond time do not fit a double, though its decimal form survives one. */
  at: string;
  /** The root of the thread with its new counters, when the message is a reply. */
  parent: MessageView | null;
}

/*
 * A post is one statement: it takes the channel's next numbers under the row's lock, stores the message, counts it at its
 * parent, and logs what happened. Either all of that is there or nothing, and the numbers have no gap. A parent that was
 * deleted meanwhile violates the foreign key and takes the whole statement back.
 */
const POST = statement<PostedRow>(
  'message.post',
  `with clock as (
     update channel
        set last_event = last_event + case when $6::uuid is null then 1 else 2 end,
            last_event_at = ${NEXT_MOMENT}, last_message_at = ${NEXT_MOMENT}
      where id = $1
      returning last_event - case when $6::uuid is null then 0 else 1 end as event_id, last_event_at as at
   ), stored as (
     insert into message (channel_id, id, user_id, content, reply_to_id, parent_id, data, meta, created_at, updated_at)
     select $1, $2, $3, $4, $5, $6, $7::jsonb, $8::jsonb, at, at from clock
   ), parent as (
     update message set reply_count = reply_count + 1, latest_reply_at = clock.at
       from clock where channel_id = $1 and id = $6
       returning message.*
   ), parent_view as (
     select m.id, ${VIEW} as view from parent m ${JOINS}
   ), logged as (
     insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
     select $1, event_id, 'message', $2, $9::jsonb,
            $10::jsonb || jsonb_build_object('created_at', at, 'updated_at', at), at from clock
     union all
     select $1, event_id + 1, 'message:reply', parent_view.id, $9::jsonb, parent_view.view::jsonb, at
       from clock, parent_view
   )
   select event_id::float8 as event_id, at::text as at, (select view from parent_view) as parent from clock`,
);

export interface NewMessage {
  id: string;
  channel_id: string;
  content: string;
  reply_to_id: string | null;
  parent_id: string | null;
  data: Record<string, unknown>;
  meta: Record<string, unknown>;
}

/**
 * Stores a message with its events. `view` is its wire form without times.
 *
 * @returns undefined when the channel is gone
 */
export async function insertMessage(
  sql: Sql,
  message: NewMessage,
  author: Author,
  view: object,
): Promise<PostedRow | undefined> {
  const { channel_id, id, content, reply_to_id, parent_id, data, meta } = message;
  const [row] = await sql.rows(POST, [
    channel_id,
    id,
    author.id,
    content,
    reply_to_id,
    parent_id,
    JSON.stringify(data),
    JSON.stringify(meta),
    JSON.stringify(author),
    JSON.stringify(view),
  ]);
  return row;
}

/** Statements of a change to a message, run inside one transaction after `TICK` took the channel's lock. */
export const TICK = statement<{ event_id: number; at: string }>(
  'message.tick',
  `update channel set last_event = last_event + 1, last_event_at = ${NEXT_MOMENT} where id = $1
   returning last_event::float8 as event_id, last_event_at::text as at`,
);

/** The message in its wire form, whoever asks. */
export const VIEW_ONE = statement<{ view: MessageView; is_deleted: boolean }>(
  'message.view',
  `select ${VIEW} as view, m.deleted_at is not null as is_deleted from message m ${JOINS} where m.channel_id = $1 and m.id = $2`,
);

export const EDIT = statement(
  'message.edit',
  `update message set content = $3, data = $4::jsonb, meta = $5::jsonb, updated_at = $6::bigint
    where channel_id = $1 and id = $2`,
);

/** A message with replies stays as a tombstone, so that its thread keeps its root. */
export const ENTOMB = statement(
  'message.entomb',
  `update message set content = '', data = '{}', meta = '{"deleted": true}', is_pinned = false, pinned_by = null,
          pinned_at = null, updated_at = $3::bigint, deleted_at = $3::bigint
    where channel_id = $1 and id = $2 and reply_count > 0`,
);

export const DELETE = statement(
  'message.delete',
  'delete from message where channel_id = $1 and id = $2 and reply_count = 0',
);

/** Counts a deleted reply out at its root. */
export const UNCOUNT = statement(
  'message.uncount',
  `update message m set reply_count = m.reply_count - 1,
          latest_reply_at = (select max(r.created_at) from message r where r.channel_id = $1 and r.parent_id = $2)
    where m.channel_id = $1 and m.id = $2`,
);

/**
 * Takes what a message said before out of the log: its own events, and those of the messages that quote it. Their numbers stay, so
 * whoever reads from there learns what it says now.
 */
export const REWRITE = statement(
  'message.rewrite',
  `with now (form) as (
     select jsonb_build_object('content', $3::text, 'data', $4::jsonb, 'meta', $5::jsonb)
   ), own as (
     update channel_event set data = data || now.form from now where channel_id = $1 and message_id = $2
   )
   update channel_event e set data = jsonb_set(e.data, '{reply_to_message}', (e.data -> 'reply_to_message') || now.form)
     from now, message m
    where m.channel_id = $1 and m.reply_to_id = $2 and m.id <> $2
      and e.channel_id = $1 and e.message_id = m.id and jsonb_typeof(e.data -> 'reply_to_message') = 'object'`,
);

export const LOG = statement(
  'message.log',
  `insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
   values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7::bigint)`,
);
