import { CAN_READ } from '../../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import { authorColumns } from '../../messages/messages.author.ts';

/** How many replies of a thread, and how many messages before one of the main line, a model gets. */
const THREAD_MESSAGES = 50;
const MAIN_LINE_MESSAGES = 20;

export interface HeardMessage {
  id: string;
  content: string;
  /** `data.files` as stored. */
  files: unknown;
  author_name: string | null;
  /** The id of the model, if a model wrote it. */
  model_id: string | null;
  /** Whether it is the root of the thread. */
  is_root: boolean;
}

const HEARD = statement<HeardMessage, CallerParams & { channelId: string; messageId: string }>(
  'reply.context',
  `select m.id, m.content, m.data -> 'files' as files, m.id = called.parent_id as is_root,
          case when m.author_type = 'model' then m.author_id end as model_id,
          case when m.author_type = 'model' then coalesce(m.meta ->> 'model_name', m.author_id) else author.author_name end as author_name
     from channel c
     join message called on called.channel_id = c.id and called.id = :messageId
     cross join lateral (
       (select m.* from message m where m.channel_id = c.id and m.id = called.parent_id)
       union all
       (select m.* from message m where called.parent_id is not null and m.channel_id = c.id and m.parent_id = called.parent_id
           and m.created_at <= called.created_at order by m.created_at desc limit ${THREAD_MESSAGES})
       union all
       (select m.* from message m where called.parent_id is null and m.channel_id = c.id and m.parent_id is null
           and m.created_at <= called.created_at order by m.created_at desc limit ${MAIN_LINE_MESSAGES + 1})
     ) m
     left join users u on u.id = m.user_id
     cross join lateral (select ${authorColumns('m', 'u')}) author
    where c.id = :channelId and ${CAN_READ} and m.deleted_at is null
      and (m.author_type <> 'model' or m.meta -> 'done' is distinct from 'false'::jsonb and m.meta -> 'error' is null)
    order by m.created_at`,
);

/**
 * What a model hears when a message calls it, oldest first: in a thread the root and the newest replies up to
 * the message, in the main line the message and those before it. Unfinished and failed messages of models are
 * left out. Empty if the caller may not read the channel.
 */
export const listHeard = (
  sql: Sql,
  caller: Caller,
  channelId: string,
  messageId: string,
): Promise<HeardMessage[]> => sql.rows(HEARD, { ...callerOf(caller), channelId, messageId });
