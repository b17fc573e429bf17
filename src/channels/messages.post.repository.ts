import { type Sql, statement } from '../database/sql.ts';
import { fields, JOINS, NEXT_MOMENT, VIEW } from './messages.repository.ts';
import type { Author, MessageView } from './messages.schema.ts';

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
