import { type Sql, statement } from '../database/sql.ts';
import { storableJson } from './growing/growing.calls.ts';

/** Names one reply. */
export interface ReplyKey {
  channelId: string;
  messageId: string;
}

const MISSING = statement<
  { model_id: string },
  { channelId: string; calledBy: string; modelIds: readonly string[] }
>(
  'reply.missing',
  `select model_id from unnest(:modelIds::text[]) with ordinality as called (model_id, n)
    where not exists (select from model_reply r
      where r.channel_id = :channelId and r.called_by = :calledBy and r.model_id = called.model_id)
    order by n`,
);

/** The models, among the given ones, that have not begun to reply to a message. */
export const listMissing = async (
  tx: Sql,
  called: { channelId: string; calledBy: string; modelIds: readonly string[] },
): Promise<string[]> => (await tx.rows(MISSING, called)).map(({ model_id }) => model_id);

export interface NewReply {
  channel_id: string;
  message_id: string;
  called_by: string;
  model_id: string;
  user_id: string;
  key_id: string | null;
  depth: number;
  /** Unix seconds. */
  ends_by: number;
}

const INSERT = statement<never, { replies: string }>(
  'reply.insert',
  `insert into model_reply (channel_id, message_id, called_by, model_id, user_id, key_id, depth, ends_by)
   select channel_id, message_id, called_by, model_id, user_id, key_id, depth, ends_by
     from jsonb_to_recordset(:replies::jsonb) as r (channel_id uuid, message_id uuid, called_by uuid, model_id text,
       user_id uuid, key_id uuid, depth int, ends_by int)`,
);

export const insertReplies = (tx: Sql, replies: readonly NewReply[]): Promise<unknown> =>
  tx.rows(INSERT, { replies: JSON.stringify(replies) });

export interface OpenReply {
  channel_id: string;
  message_id: string;
  called_by: string;
  model_id: string;
  user_id: string;
  key_id: string | null;
  depth: number;
  attempt: number;
  /** The number of attempts since the call, or since a person had the reply written again. */
  tries: number;
  /** Whether an earlier attempt has saved text or called a tool. */
  has_begun: boolean;
  stop_requested: boolean;
  /** The name of the model when it was called. */
  model_name: string;
  /** The account that called the model; null if it was deleted. */
  user_name: string | null;
  user_role: string | null;
  /** IANA name. */
  user_timezone: string | null;
}

/** SQL for an `OpenReply`, from a row `r` of `model_reply`. */
const OPEN = (rows: string) =>
  `select r.channel_id, r.message_id, r.called_by, r.model_id, r.user_id, r.key_id, r.depth, r.attempt, r.has_begun,
          r.attempt - r.earlier_attempts as tries, r.stop_requested, coalesce(m.meta ->> 'model_name', r.model_id) as model_name, u.name as user_name, u.role as user_role,
          u.timezone as user_timezone
     from ${rows} r join message m on m.channel_id = r.channel_id and m.id = r.message_id
     left join users u on u.id = r.user_id`;

const CLAIM = statement<OpenReply, ReplyKey & { endsBy: number }>(
  'reply.claim',
  `with claimed as (
     update model_reply set attempt = attempt + 1, ends_by = :endsBy
      where channel_id = :channelId and message_id = :messageId and not is_done returning *
   ) ${OPEN('claimed')} where m.deleted_at is null`,
);

/** Begins an attempt of a reply; undefined if the reply is done, or its message was deleted. */
export async function claimReply(
  sql: Sql,
  key: ReplyKey,
  endsBySeconds: number,
): Promise<OpenReply | undefined> {
  const [row] = await sql.rows(CLAIM, { ...key, endsBy: endsBySeconds });
  return row;
}

const ENDED = statement<OpenReply, ReplyKey>(
  'reply.ended',
  `${OPEN('model_reply')} where r.channel_id = :channelId and r.message_id = :messageId and r.is_done and m.deleted_at is null`,
);

/** A reply that is done; undefined if it is not, or its message was deleted. */
export async function readEnded(sql: Sql, key: ReplyKey): Promise<OpenReply | undefined> {
  const [row] = await sql.rows(ENDED, { ...key });
  return row;
}

const OVERDUE = statement<OpenReply, { now: number }>(
  'reply.overdue',
  `with deleted as (
     update model_reply r set is_done = true from message m
      where not r.is_done and r.ends_by < :now::int and m.channel_id = r.channel_id and m.id = r.message_id
        and m.deleted_at is not null
   ) ${OPEN('model_reply')} where not r.is_done and r.ends_by < :now::int and m.deleted_at is null
    order by r.ends_by limit 100`,
);

/** Replies that should have ended. @param now Unix seconds */
export const listOverdue = (sql: Sql, now: number): Promise<OpenReply[]> => sql.rows(OVERDUE, { now });

const SAVE = statement<
  { stop_requested: boolean },
  ReplyKey & { attempt: number; content: string; data: string }
>(
  'reply.save',
  `with held as (
     update model_reply set has_begun = true
      where channel_id = :channelId and message_id = :messageId and attempt = :attempt and not is_done
     returning channel_id, message_id, stop_requested
   )
   update message m set content = :content, data = m.data || :data::jsonb
     from held where m.channel_id = held.channel_id and m.id = held.message_id and m.deleted_at is null
   returning held.stop_requested`,
);

/** Saves the text so far; undefined if the message was deleted, or the reply belongs to another attempt. */
export async function saveReply(
  sql: Sql,
  save: ReplyKey & { attempt: number; content: string; data: object },
): Promise<{ stop_requested: boolean } | undefined> {
  const [row] = await sql.rows(SAVE, { ...save, data: storableJson(save.data) });
  return row;
}

const FINISH = statement<{ attempt: number }, ReplyKey & { attempt: number }>(
  'reply.finish',
  `update model_reply set is_done = true
    where channel_id = :channelId and message_id = :messageId and attempt = :attempt and not is_done returning attempt`,
);

/** Marks a reply as done. @returns false if it was done before, or belongs to another attempt */
export const finishReply = async (tx: Sql, key: ReplyKey & { attempt: number }): Promise<boolean> =>
  (await tx.rows(FINISH, key)).length > 0;

const REQUEST_STOP = statement<OpenReply, ReplyKey>(
  'reply.stop',
  `with stopped as (
     update model_reply set stop_requested = true
      where channel_id = :channelId and message_id = :messageId and not is_done returning *
   ) ${OPEN('stopped')} where m.deleted_at is null`,
);

/** Asks the attempt of a reply to stop; undefined if the reply is done. */
export async function requestStop(sql: Sql, key: ReplyKey): Promise<OpenReply | undefined> {
  const [row] = await sql.rows(REQUEST_STOP, key);
  return row;
}

const RESTART = statement<{ message_id: string }, ReplyKey & { keyId: string | null; endsBy: number }>(
  'reply.restart',
  `update model_reply set is_done = false, has_begun = false, stop_requested = false, earlier_attempts = attempt,
          key_id = :keyId, ends_by = :endsBy
    where channel_id = :channelId and message_id = :messageId and is_done returning message_id`,
);

/** Opens a reply again that is done. @param restart.endsBy Unix seconds @returns false for any other */
export const restartReply = async (
  tx: Sql,
  restart: ReplyKey & { keyId: string | null; endsBy: number },
): Promise<boolean> => (await tx.rows(RESTART, restart)).length > 0;
