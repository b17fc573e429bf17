import { READABLE_OF_ALL } from '../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import { isByUser } from '../messages/messages.author.ts';
import type { Page } from '../messages/messages.repository.ts';
import {
  JOINS,
  LISTED,
  type MessageRow,
  messageOf,
  withinBudget,
} from '../messages/messages.view.repository.ts';
import { IS_NEWS, READER } from '../reads/reads.repository.ts';
import { COUNT_LIMIT } from '../reads/reads.schema.ts';
import type { ThreadView } from './threads.schema.ts';

export interface ThreadQuery extends Page {
  /** Only those with replies that the caller has not seen. */
  unread: boolean;
}

/** SQL for the replies to the root `t`, the newest of those that came since the moment `t.seen_at`. */
const NEW_REPLIES = `(select m.user_id, m.author_type, m.deleted_at from message m
    where m.channel_id = t.channel_id and m.parent_id = t.id and m.created_at > t.seen_at
    order by m.created_at desc limit ${COUNT_LIMIT}) m`;

/** SQL for the root of a thread in which the caller replied: the first by id, or the one after another. */
const nextReplied = (channel: string, after?: string) =>
  `select m.parent_id from message m where m.channel_id = ${channel} and m.user_id = :callerId
      and m.parent_id ${after ? `> ${after}` : 'is not null'} order by m.parent_id limit 1`;

/**
 * SQL for a message, looked up by itself (`offset 0`): where few have replies, or many are mentioned, the planner would rather read
 * all messages from end to end.
 */
const messageAt = (channel: string, id: string) =>
  `(select m.* from message m where m.channel_id = ${channel} and m.id = ${id} offset 0)`;

/*
 * The caller's part in a thread is found from their side, channel by channel: what they began, what they replied to, where they are
 * mentioned, each by an index that begins with channel and person. `replied` goes from one thread to the next, past all that they
 * wrote in it: what the list costs depends on how many threads somebody has a part in, not on how much they wrote. What is a
 * program's is not the caller's, though they made the webhook; programs reply to nothing.
 */
interface ThreadRow extends MessageRow {
  channel_name: string;
  channel_type: string | null;
  unread_count: number;
}

const LIST = statement<ThreadRow, CallerParams & { unread: boolean; limit: number; skip: number }>(
  'thread.list',
  `with recursive readable as materialized (
     select c.id, c.name, c.type, s.seen_at from channel c ${READER} where ${READABLE_OF_ALL}
   ), replied (channel_id, id) as (
     select c.id, (${nextReplied('c.id')}) from readable c
      union all
     select r.channel_id, (${nextReplied('r.channel_id', 'r.id')}) from replied r where r.id is not null
   ), mine as (
     select m.channel_id, m.id from readable c join message m on m.channel_id = c.id
      where m.user_id = :callerId and ${isByUser('m')} and m.has_thread
      union
     select channel_id, id from replied where id is not null
      union
     select m.channel_id, coalesce(m.parent_id, m.id) from readable c
       join message_mention mm on mm.channel_id = c.id and mm.user_id = :callerId
       cross join lateral ${messageAt('mm.channel_id', 'mm.message_id')} m
   )
   select ${LISTED}, c.name as channel_name, c.type as channel_type,
          (select (count(*) filter (where ${IS_NEWS}))::int from ${NEW_REPLIES}) as unread_count
     from (${withinBudget(
       `select t.*, c.seen_at from mine join readable c on c.id = mine.channel_id
         cross join lateral ${messageAt('mine.channel_id', 'mine.id')} t
         where t.reply_count > 0
           and (not :unread or t.latest_reply_at > c.seen_at and exists (
                 select from message m where m.channel_id = t.channel_id and m.parent_id = t.id
                    and m.created_at > c.seen_at and ${IS_NEWS}))
         order by t.latest_reply_at desc, t.id limit :limit offset :skip`,
       'latest_reply_at',
     )}) t join readable c on c.id = t.channel_id cross join lateral (select t.*) m ${JOINS}
    order by t.latest_reply_at desc, t.id`,
);

/** The threads that the caller has a part in, of channels that they may read, the one with the newest reply first. */
export async function readThreads(
  sql: Sql,
  caller: Caller,
  { unread, limit, skip }: ThreadQuery,
): Promise<ThreadView[]> {
  const rows = await sql.rows(LIST, { ...callerOf(caller), unread, limit, skip });
  return rows.map((row) => ({
    root: messageOf(row),
    channel: { id: row.channel_id, name: row.channel_name, type: row.channel_type },
    unread_count: row.unread_count,
  }));
}
