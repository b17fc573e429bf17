import { NEXT_MOMENT } from '../channelbase/channels.access.repository.ts';
import { type NoParams, statement } from '../database/sql.ts';
import type { MessageEventType, MessageView } from './messages.schema.ts';
import { EDITED_VIEW, EVENT_VIEW, inShort, JOINS } from './messages.view.repository.ts';

/** Statements of a change to a message. All run in one transaction, after `TICK` has locked the channel. */
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

/** Sets the files of a message. A file that was deleted meanwhile is left out. */
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
 * A message with replies stays as a tombstone, so that its thread keeps its root. Its reactions, mentions and
 * files are deleted. `updated_at` becomes `created_at`, because clients show a message with another
 * `updated_at` as edited.
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

/** Subtracts a deleted reply from the count of its root. */
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
 * Removes the earlier text of a message from the log: from its own events, and from the events of messages
 * that quote it. The events keep their numbers, so a client that reads them gets the current text. `own` is
 * the change of the message, `quoted` the change of its quotes.
 */
export const REWRITE = rewrite<{ own: string; quoted: string }>(
  'message.rewrite',
  ':own::jsonb',
  ':quoted::jsonb',
);

const { content, data, meta } = inShort('m');
const EDITED = `(select jsonb_build_object('content', ${content}, 'data', ${data}, 'meta', ${meta})
    from message m where m.channel_id = :channelId and m.id = :messageId)`;
/** The same with the current text, abridged. The event of the edit follows, and has the whole text. */
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

/** Logs a change with the current message and the members of `extra`; no row if the message was deleted. */
export const LOG_AS_IT_IS = logAsItIs('message.log_as_it_is', EVENT_VIEW);
/** The same for an edit, with the whole text. */
export const LOG_EDITED = logAsItIs('message.log_edited', EDITED_VIEW);

/** Logs a change with the given form of the message. */
export const LOG = statement<never, LogParams & { message: string }>(
  'message.log',
  `insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
   values (:channelId, :eventId, :type, :messageId, :actor::jsonb, :message::jsonb, :at::bigint)`,
);
