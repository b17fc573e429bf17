import { BRIEF, NEXT_MOMENT } from '../channelbase/channels.access.repository.ts';
import type { ChannelBrief } from '../channelbase/channels.brief.schema.ts';
import { channelAllows } from '../channelbase/channels.policy.ts';
import { type Database, type Sql, statement } from '../database/sql.ts';
import { transaction } from '../database/transaction.ts';
import { isByUser, type MessageAuthor } from './messages.author.ts';
import type { MessageView, PostedMessage } from './messages.schema.ts';
import { EVENT_VIEW, fields, inShort, JOINS, VIEW } from './messages.view.repository.ts';

/** A message before it is stored. */
export interface NewPost {
  /** Its wire form. `parent_id` is as sent; the quoted message and the times are not known yet. */
  view: Omit<PostedMessage, 'created_at' | 'updated_at'>;
  /** Whether its author is an administrator. */
  is_admin: boolean;
  author: MessageAuthor;
  /** Ids of the mentioned people. */
  mentions: readonly string[];
  /** Ids of the attached files. */
  files: readonly string[];
}

/**
 * The outcome of a post:
 * - `absent`: the channel does not exist;
 * - `busy`: another transaction holds the channel, and the statement does not wait;
 * - `stale`: the channel has changed since the statement began, so a reply would show an old root;
 * - `no_parent`, `no_quoted`: the channel does not have this message;
 * - `repeated`: the same author has already sent this `temp_id`.
 */
export type PostOutcome =
  | { outcome: 'absent' | 'forbidden' | 'busy' | 'stale' | 'no_parent' | 'no_quoted' | 'repeated' }
  | Posted;

export interface Posted {
  outcome: 'posted';
  event_id: number;
  /** Text: a double cannot hold all nanosecond times. */
  at: string;
  /** The root of its thread. */
  root_id: string | null;
  quoted: MessageView['reply_to_message'];
  /** The root after a reply. */
  parent: MessageView | null;
  channel: ChannelBrief;
}

/** The event numbers of a post: one for the message, one for the root of a reply. */
const NUMBERS = 'case when root_id is null then 1 else 2 end';

/*
 * All posts of a batch are one statement. It checks the rights, takes the next numbers of each channel under
 * the lock of its row, finds the parents and quoted messages, stores the messages, counts replies at their
 * roots, and logs the events. The statement stores everything or nothing, so the numbers have no gaps. A root
 * that was deleted meanwhile violates the foreign key and rolls back the statement.
 *
 * `locked` comes before everything that depends on the state of a channel. Rows that are locked or updated
 * after it are read in their current state, not in their state at the start of the statement, and no other
 * transaction holds an uncommitted `temp_id` of the channel. `is not null` keeps posts without a parent or
 * quote from a join with messages: without statistics PostgreSQL may scan a whole channel for them.
 *
 * Reactions to a root and its quoted message are not locked: they are read as they were when the statement
 * began. `seen` is the channel's last number at that time. If it has changed, a reply is not stored, and must
 * be sent by `insertUnderLock`.
 *
 * Only replies and quotes need a third of the statement. PostgreSQL sets all of it up each time, so there is
 * a shorter form for posts without either.
 */
const AUTHOR = { id: 'post.user_id', isAdmin: 'post.is_admin' };

/** The posts as rows, in their order. */
const GIVEN = `post as materialized (
    select e.n::int as n, e.item -> 'view' as view, o.*, v.*,
           e.item #>> '{author,type}' as author_type, e.item #>> '{author,id}' as author_id
      from jsonb_array_elements(:posts::jsonb) with ordinality as e (item, n)
     cross join jsonb_to_record(e.item) as o (is_admin boolean, mentions uuid[], files uuid[])
     cross join jsonb_to_record(e.item -> 'view') as v (id uuid, channel_id uuid, user_id uuid, content text,
       reply_to_id uuid, parent_id uuid, data jsonb, meta jsonb, temp_id text)
  )`;

/** Checks the rights, and locks the channels. */
const admitted = ({ waits }: PostForm) => `asked as materialized (
    select post.n, c.id, post.author_type = 'webhook' or ${channelAllows('write', AUTHOR)} as can_write,
           c.last_event as seen
      from post join channel c on c.id = post.channel_id
  ), locked as materialized (
    select c.id, c.last_event, ${NEXT_MOMENT} as moment, (select to_json(b) from (select ${BRIEF}) b) as brief
      from channel c where c.id = any (array (select asked.id from asked where can_write)) for no key update ${waits ? '' : 'skip locked'}
  )`;

/** The roots that posts reply to, and the messages that they quote. */
const REFERRED = `rooted as materialized (
    select post.n, coalesce(m.parent_id, m.id) as root_id
      from post join asked using (n) join locked on locked.id = post.channel_id and locked.last_event = seen
      join message m on m.channel_id = post.channel_id and m.id = post.parent_id
     where post.parent_id is not null
  ), quoted as materialized (
    select post.n, json_build_object(${fields('q', 'qu', inShort('q'))}) as view
      from post join locked on locked.id = post.channel_id
      join message q on q.channel_id = post.channel_id and q.id = post.reply_to_id
      left join users qu on qu.id = q.user_id
     where post.reply_to_id is not null
       for share of q
  )`;

/** The posts that are stored, with their numbers and times, and the last number and time of each channel. */
const accepted = ({ refers }: PostForm) => `accepted as materialized (
    select post.*, locked.last_event, locked.moment,
           ${refers ? 'rooted.root_id, quoted.view' : 'null::uuid as root_id, null::json'} as quoted
      from post join asked using (n) join locked on locked.id = post.channel_id
           ${refers ? 'left join rooted using (n) left join quoted using (n)' : ''}
     where asked.can_write ${refers ? 'and (post.parent_id is null) = (rooted.n is null) and (post.reply_to_id is null) = (quoted.n is null)' : ''}
  ), claimed as (
    insert into message_temp_id (channel_id, user_id, temp_id, message_id, created_at)
    select channel_id, user_id, temp_id, id, moment from accepted where temp_id is not null
        on conflict do nothing returning message_id
  ), numbered as materialized (
    select accepted.*, last_event + sum(${NUMBERS}) over line - ${NUMBERS} + 1 as event_id,
           moment + (row_number() over line - 1) * 1000 as at
      from accepted where temp_id is null or id in (select message_id from claimed)
    window line as (partition by channel_id order by n)
  ), ended as materialized (
    select channel_id, max(event_id + ${NUMBERS} - 1) as last_event, max(at) as at from numbered group by channel_id
  )`;

const STORED = `clock as (
    update channel c set last_event = ended.last_event, last_event_at = ended.at, last_message_at = ended.at
      from ended where c.id = ended.channel_id
  ), stored as (
    insert into message (channel_id, id, user_id, content, reply_to_id, parent_id, data, meta, created_at, updated_at,
                         author_type, author_id)
    select channel_id, id, user_id, content, reply_to_id, root_id, data, meta, at, at, author_type, author_id
      from numbered
  )`;

/** Counts replies at their roots. `reply` has the root after each reply. */
const COUNTED = `thread as materialized (
    select channel_id, root_id, count(*) as replies, max(at) as at
      from numbered where root_id is not null group by channel_id, root_id
  ), parent as (
    update message set reply_count = reply_count + thread.replies, latest_reply_at = thread.at, has_thread = true
      from thread where message.channel_id = thread.channel_id and message.id = thread.root_id
    returning message.*
  ), root as materialized (
    select m.channel_id, m.id, m.reply_count, (${EVENT_VIEW})::jsonb as view from parent m ${JOINS}
  ), reply as materialized (
    select numbered.n, numbered.channel_id, event_id + 1 as event_id, root.id as message_id, at,
           numbered.view -> 'user' as actor, root.view || jsonb_build_object('latest_reply_at', at, 'reply_count',
             root.reply_count - count(*) over thread + row_number() over (thread order by numbered.n)) as view
      from numbered join root on root.channel_id = numbered.channel_id and root.id = root_id
    window thread as (partition by root.id)
  )`;

const logged = ({ refers }: PostForm) => `logged as (
    insert into channel_event (channel_id, id, type, message_id, actor, data, created_at)
    select channel_id, event_id, 'message', id, view -> 'user', view || jsonb_build_object('parent_id', root_id,
             'reply_to_message', quoted, 'created_at', at, 'updated_at', at), at from numbered
    ${refers ? "union all select channel_id, event_id, 'message:reply', message_id, actor, view, at from reply" : ''}
  )`;

/** Mentions, files and marks: the author has read the channel, and a hidden channel returns to all lists. */
const ATTACHED = `mentioned as (
    insert into message_mention (channel_id, message_id, user_id, created_at)
    select channel_id, id, unnest(mentions), at from numbered
  ), attached as (
    insert into message_file (channel_id, message_id, file_id)
    select channel_id, id, unnest(files) from numbered
  ), seen as (
    insert into channel_reader (channel_id, user_id, last_read_at)
    select channel_id, user_id, max(at) from numbered where ${isByUser('numbered')} group by channel_id, user_id
        on conflict (channel_id, user_id) do update
       set last_read_at = greatest(channel_reader.last_read_at, excluded.last_read_at), is_hidden = false
  ), shown as (
    update channel_reader r set is_hidden = false from ended where r.is_hidden and r.channel_id = ended.channel_id
       and not exists (select from numbered
         where numbered.channel_id = r.channel_id and numbered.user_id = r.user_id and ${isByUser('numbered')})
  )`;

const outcomes = ({ refers }: PostForm) => {
  const unmet = `when post.parent_id is not null and asked.seen <> locked.last_event then 'stale'
           when post.parent_id is not null and rooted.n is null then 'no_parent'
           when post.reply_to_id is not null and quoted.n is null then 'no_quoted'`;
  return `select case when asked.n is null then 'absent' when not asked.can_write then 'forbidden' when locked.id is null then 'busy'
           ${refers ? unmet : ''}
           when numbered.n is null then 'repeated' else 'posted' end as outcome,
         numbered.event_id::float8 as event_id, numbered.at::text as at, numbered.root_id, numbered.quoted,
         ${refers ? 'reply.view' : 'null'} as parent, locked.brief as channel
    from post left join asked using (n) left join locked on locked.id = post.channel_id left join numbered using (n)
         ${refers ? 'left join rooted using (n) left join quoted using (n) left join reply using (n)' : ''}
   order by post.n`;
};

const post = (name: string, form: PostForm) => {
  const steps = [
    GIVEN,
    admitted(form),
    ...(form.refers ? [REFERRED] : []),
    accepted(form),
    STORED,
    ...(form.refers ? [COUNTED] : []),
    logged(form),
    ATTACHED,
  ];
  return statement<PostOutcome, { posts: string }>(name, `with ${steps.join(', ')} ${outcomes(form)}`);
};

interface PostForm {
  /** Whether to wait for the lock of the channel. Only if all posts are for one channel. */
  waits: boolean;
  /** Whether any of the posts is a reply or quotes a message. */
  refers: boolean;
}

const POST = post('message.post', { waits: true, refers: true });
const POST_PROMPT = post('message.post_prompt', { waits: false, refers: true });
const PLAIN = post('message.post_plain', { waits: true, refers: false });
const PLAIN_PROMPT = post('message.post_plain_prompt', { waits: false, refers: false });

/** Whether a post is a reply or quotes a message. */
export const refersToMessage = ({ view }: NewPost): boolean =>
  view.parent_id !== null || view.reply_to_id !== null;

/**
 * Stores posts with their events, all or none.
 *
 * @param texts `NewPost`s as JSON
 * @returns the outcomes, in the same order
 */
export function insertPosts(
  sql: Sql,
  texts: readonly string[],
  { waits, refers }: PostForm,
): Promise<PostOutcome[]> {
  const [waiting, prompt] = refers ? [POST, POST_PROMPT] : [PLAIN, PLAIN_PROMPT];
  return sql.rows(waits ? waiting : prompt, { posts: `[${texts.join(',')}]` });
}

const LOCK = statement<never, { channelId: string }>(
  'message.post_lock',
  'select from channel where id = :channelId for no key update',
);

/** Locks a channel: a later `insertPosts` of the transaction begins with its current state. */
export const lockForPosts = (tx: Sql, channelId: string): Promise<unknown> => tx.rows(LOCK, { channelId });

/** Stores posts into one channel after locking it, so that the statement begins with the current state. */
export const insertUnderLock = (
  sql: Database,
  channelId: string,
  texts: readonly string[],
): Promise<PostOutcome[]> =>
  transaction({ sql }, async (tx) => {
    await lockForPosts(tx, channelId);
    return insertPosts(tx, texts, { waits: true, refers: true });
  });

const REPEATED = statement<{ view: MessageView }, { channelId: string; userId: string; tempId: string }>(
  'message.repeated',
  `select ${VIEW} as view from message_temp_id t
     join message m on m.channel_id = t.channel_id and m.id = t.message_id ${JOINS}
    where t.channel_id = :channelId and t.user_id = :userId and t.temp_id = :tempId`,
);

/** The message that its author sent with this `temp_id`, in its current state; undefined if there is none. */
export async function readByTempId(
  sql: Sql,
  channelId: string,
  userId: string,
  tempId: string,
): Promise<MessageView | undefined> {
  const [row] = await sql.rows(REPEATED, { channelId, userId, tempId });
  return row?.view;
}

const FORGET = statement<{ count: number }, { olderThanSeconds: number; most: number }>(
  'message.forget_temp_ids',
  `with old as materialized (
     select channel_id, user_id, temp_id from message_temp_id
      where created_at < ((extract(epoch from now()) - :olderThanSeconds) * 1000000)::bigint * 1000
      order by created_at limit :most for update skip locked
   ), gone as (
     delete from message_temp_id t using old
      where t.channel_id = old.channel_id and t.user_id = old.user_id and t.temp_id = old.temp_id returning 1
   )
   select count(*)::int as count from gone`,
);

/** Deletes a batch of the clients' own ids of messages that are older than this. @returns the number of deleted ids */
export async function forgetTempIds(sql: Sql, olderThanSeconds: number, most: number): Promise<number> {
  const [row] = await sql.rows(FORGET, { olderThanSeconds, most });
  return row?.count ?? 0;
}
