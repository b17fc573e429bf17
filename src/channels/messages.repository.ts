import { Json } from '../core/json.ts';
import { type Sql, statement } from '../database/sql.ts';
import { CAN_READ, type Caller } from './channels.repository.ts';
import type { MessageView } from './messages.schema.ts';

/** SQL members of a message from the row `m` with its author `u`; both are SQL names. */
export const fields = (
  m: string,
  u: string,
) => `'id', ${m}.id, 'user_id', ${m}.user_id, 'channel_id', ${m}.channel_id,
  'content', ${m}.content, 'reply_to_id', ${m}.reply_to_id, 'parent_id', ${m}.parent_id,
  'is_pinned', ${m}.is_pinned, 'pinned_by', ${m}.pinned_by, 'pinned_at', ${m}.pinned_at,
  'data', ${m}.data, 'meta', ${m}.meta,
  'user', case when ${u}.id is not null then json_build_object('id', ${u}.id, 'name', ${u}.name, 'role', ${u}.role) end,
  'created_at', ${m}.created_at, 'updated_at', ${m}.updated_at`;

/** SQL for the wire form of the row `m`; needs the joins of `JOINS`. */
export const VIEW = `json_build_object(${fields('m', 'u')},
  'reactions', '[]'::json, 'reply_count', m.reply_count, 'latest_reply_at', m.latest_reply_at,
  'reply_to_message', case when q.id is not null then json_build_object(${fields('q', 'qu')}) end)`;

export const JOINS = `left join users u on u.id = m.user_id
  left join message q on q.channel_id = m.channel_id and q.id = m.reply_to_id
  left join users qu on qu.id = q.user_id`;

/** The next moment of a channel's clock: now, or just after the last one. Whole microseconds, in nanoseconds. */
export const NEXT_MOMENT =
  'greatest(last_event_at + 1000, (extract(epoch from now()) * 1000000)::bigint * 1000)';

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
