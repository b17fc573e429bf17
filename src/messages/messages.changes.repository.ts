import { NEXT_MOMENT } from '../channels/channels.repository.ts';
import { statement } from '../database/sql.ts';
import type { MessageView } from './messages.schema.ts';
import { EDITED_VIEW, EVENT_VIEW, inShort, JOINS } from './messages.view.repository.ts';

/** Statements of a change to a message, run inside one transaction after `TICK` took the channel's lock. */
export const TICK = statement<{ event_id: number; at: string }>(
  'message.tick',
  `update channel set last_event = last_event + 1, last_event_at = ${NEXT_MOMENT} where id = $1
   returning last_event::float8 as event_id, last_event_at::text as at`,
);

export const EDIT = statement(
  'message.edit',
  `update message set content = $3, data = $4::jsonb, meta = $5::jsonb, updated_at = $6::bigint
    where channel_id = $1 and id = $2`,
);

/** Makes a message carry exactly the given files, of which one may have gone meanwhile. */
export const LINK_FILES = statement(
  'message.link_files',
  `with unlinked as (
     delete from message_file where channel_id = $1 and message_id = $2 and file_id <> all($3::uuid[])
   )
   insert into message_file (channel_id, message_id, file_id)
   select $1, $2, id from file where id = any($3::uuid[]) on conflict do nothing`,
);

/**
 * A message with replies stays as a tombstone, so that its thread keeps its root; what hung on it goes. Clients show a message whose
 * `updated_at` is not its `created_at` as edited, which a tombstone is not.
 */
export const ENTOMB = statement(
  'message.entomb',
  `with entombed as (
     update message set content = '', data = '{}', meta = '{"deleted": true}', is_pinned = false, pinned_by = null,
            pinned_at = null, updated_at = created_at, deleted_at = $3::bigint
      where channel_id = $1 and id = $2 and reply_count > 0 returning id
   ), reactions as (
     delete from message_reaction using entombed where channel_id = $1 and message_id = entombed.id
   ), mentions as (
     delete from message_mention using entombed where channel_id = $1 and message_id = entombed.id
   )
   delete from message_file using entombed where channel_id = $1 and message_id = entombed.id`,
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

const rewrite = (name: string, own: string, quoted: string) =>
  statement(
    name,
    `with own as (
       update channel_event set data = data || ${own} where channel_id = $1 and message_id = $2
     )
     update channel_event e set data = jsonb_set(e.data, '{reply_to_message}', (e.data -> 'reply_to_message') || ${quoted})
       from message m
      where m.channel_id = $1 and m.reply_to_id = $2 and m.id <> $2
        and e.channel_id = $1 and e.message_id = m.id and jsonb_typeof(e.data -> 'reply_to_message') = 'object'`,
  );

/**
 * Takes what a message said before out of the log: its own events, and those of the messages that quote it. Their numbers stay, so
 * whoever reads from there learns what it says now. `$3` is what changed of the message, `$4` what changed of its quotes.
 */
export const REWRITE = rewrite('message.rewrite', '$3::jsonb', '$4::jsonb');

const { content, data, meta } = inShort('m');
const EDITED = `(select jsonb_build_object('content', ${content}, 'data', ${data}, 'meta', ${meta})
    from message m where m.channel_id = $1 and m.id = $2)`;
/** The same by what the message says now, in short: the event of the edit itself, which follows, has all of it. */
export const REWRITE_EDITED = rewrite('message.rewrite_edited', EDITED, EDITED);

const logAsItIs = (name: string, form: string) =>
  statement<{ message: MessageView; is_deleted: boolean }>(
    name,
    `with now as (
       select ${form} as view, m.deleted_at is not null as is_deleted
         from message m ${JOINS} where m.channel_id = $1 and m.id = $4
     ), logged as (
       insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
       select $1, $2, $3, $4, $5::jsonb, now.view::jsonb || $7::jsonb, $6::bigint from now
     )
     select view as message, is_deleted from now`,
  );

/** Logs a change with the message as it is now, and `$7` beside it; nothing when the message is gone. */
export const LOG_AS_IT_IS = logAsItIs('message.log_as_it_is', EVENT_VIEW);
/** The same of new words, with all of them. */
export const LOG_EDITED = logAsItIs('message.log_edited', EDITED_VIEW);

/** Logs a change with the message in the given form. */
export const LOG = statement(
  'message.log',
  `insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
   values ($1, $2, $3, $4, $5::jsonb, $7::jsonb, $6::bigint)`,
);
