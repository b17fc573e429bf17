import { NEXT_MOMENT } from '../channelbase/channels.access.repository.ts';
import { type NoParams, statement } from '../database/sql.ts';
import type { MessageEventType, MessageView } from './messages.schema.ts';
import { EDITED_VIEW, EVENT_VIEW, inShort, JOINS } from './messages.view.repository.ts';

/** Statements of a change to a message, run inside one transaction after `TICK` took the channel's lock. */
export const TICK = statement<{ event_id: number; at: string }, { channelId: string }>(
  'message.tick',
  `update channel set last_event = last_event + 1, last_event_at = ${NEXT_MOMENT} where id = :channelId
   returning last_event::float8 as event_id, last_event_at::text as at`,
);

export const EDIT = statement<
  never,
  { channelId: string; messageId: string; content: string; data: string; meta: string; at: string }
>(
  'message.edit',
  `update message set content = :content, data = :data::jsonb, meta = :meta::jsonb, updated_at = :at::bigint
    where channel_id = :channelId and id = :messageId`,
);

/** Makes a message carry exactly the given files, of which one may have gone meanwhile. */
export const LINK_FILES = statement<
  never,
  { channelId: string; messageId: string; files: readonly string[] }
>(
  'message.link_files',
  `with unlinked as (
     delete from message_file where channel_id = :channelId and message_id = :messageId and file_id <> all(:files::uuid[])
   )
   insert into message_file (channel_id, message_id, file_id)
   select :channelId, :messageId, id from file where id = any(:files::uuid[]) on conflict do nothing`,
);

/**
 * A message with replies stays as a tombstone, so that its thread keeps its root; what hung on it goes. Clients show a message whose
 * `updated_at` is not its `created_at` as edited, which a tombstone is not.
 */
export const ENTOMB = statement<never, { channelId: string; messageId: string; at: string }>(
  'message.entomb',
  `with entombed as (
     update message set content = '', data = '{}', meta = '{"deleted": true}', is_pinned = false, pinned_by = null,
            pinned_at = null, updated_at = created_at, deleted_at = :at::bigint
      where channel_id = :channelId and id = :messageId and reply_count > 0 returning id
   ), reactions as (
     delete from message_reaction using entombed where channel_id = :channelId and message_id = entombed.id
   ), mentions as (
     delete from message_mention using entombed where channel_id = :channelId and message_id = entombed.id
   )
   delete from message_file using entombed where channel_id = :channelId and message_id = entombed.id`,
);

export const DELETE = statement<never, { channelId: string; messageId: string }>(
  'message.delete',
  'delete from message where channel_id = :channelId and id = :messageId and reply_count = 0',
);

/** Counts a deleted reply out at its root. */
export const UNCOUNT = statement<never, { channelId: string; messageId: string }>(
  'message.uncount',
  `update message m set reply_count = m.reply_count - 1,
          latest_reply_at = (select max(r.created_at) from message r where r.channel_id = :channelId and r.parent_id = :messageId)
    where m.channel_id = :channelId and m.id = :messageId`,
);

const rewrite = <Params extends object>(name: string, own: string, quoted: string) =>
  statement<never, { channelId: string; messageId: string } & Params>(
    name,
    `with own as (
       update channel_event set data = data || ${own} where channel_id = :channelId and message_id = :messageId
     )
     update channel_event e set data = jsonb_set(e.data, '{reply_to_message}', (e.data -> 'reply_to_message') || ${quoted})
       from message m
      where m.channel_id = :channelId and m.reply_to_id = :messageId and m.id <> :messageId
        and e.channel_id = :channelId and e.message_id = m.id and jsonb_typeof(e.data -> 'reply_to_message') = 'object'`,
  );

/**
 * Takes what a message said before out of the log: its own events, and those of the messages that quote it. Their numbers stay, so
 * whoever reads from there learns what it says now. `own` is what changed of the message, `quoted` what changed of its quotes.
 */
export const REWRITE = rewrite<{ own: string; quoted: string }>(
  'message.rewrite',
  ':own::jsonb',
  ':quoted::jsonb',
);

const { content, data, meta } = inShort('m');
const EDITED = `(select jsonb_build_object('content', ${content}, 'data', ${data}, 'meta', ${meta})
    from message m where m.channel_id = :channelId and m.id = :messageId)`;
/** The same by what the message says now, in short: the event of the edit itself, which follows, has all of it. */
export const REWRITE_EDITED = rewrite<NoParams>('message.rewrite_edited', EDITED, EDITED);

interface LogParams {
  channelId: string;
  eventId: number;
  type: MessageEventType;
  messageId: string;
  actor: string;
  at: string;
}

const logAsItIs = (name: string, form: string) =>
  statement<{ message: MessageView; is_deleted: boolean }, LogParams & { extra: string }>(
    name,
    `with now as (
       select ${form} as view, m.deleted_at is not null as is_deleted
         from message m ${JOINS} where m.channel_id = :channelId and m.id = :messageId
     ), logged as (
       insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
       select :channelId, :eventId, :type, :messageId, :actor::jsonb, now.view::jsonb || :extra::jsonb, :at::bigint from now
     )
     select view as message, is_deleted from now`,
  );

/** Logs a change with the message as it is now, and `extra` beside it; nothing when the message is gone. */
export const LOG_AS_IT_IS = logAsItIs('message.log_as_it_is', EVENT_VIEW);
/** The same of new words, with all of them. */
export const LOG_EDITED = logAsItIs('message.log_edited', EDITED_VIEW);

/** Logs a change with the message in the given form. */
export const LOG = statement<never, LogParams & { message: string }>(
  'message.log',
  `insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
   values (:channelId, :eventId, :type, :messageId, :actor::jsonb, :message::jsonb, :at::bigint)`,
);
