import { READABLE_OF_ALL } from '../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { onReplica, type Sql, statement } from '../database/sql.ts';
import { isByUser } from '../messages/messages.author.ts';
import type { Page } from '../messages/messages.lists.repository.ts';
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
  /** Only threads with replies that the caller has not seen. */
  unread: boolean;
}

/** SQL for the newest replies to the root `t` since `t.seen_at`. */
const NEW_REPLIES = `(select m.user_id, m.author_type, m.deleted_at from message m
    where m.channel_id = t.channel_id and m.parent_id = t.id and m.created_at > t.seen_at
    order by m.created_at desc limit ${COUNT_LIMIT}) m`;

/**
 * SQL for the root of a thread in which the caller replied: the first by id, or the first after another id.
 */
const nextReplied = (channel: string, after?: string) =>
  `select m.parent_id from message m where m.channel_id = ${channel} and m.user_id = :callerId
      and m.parent_id ${after ? `> ${after}` : 'is not null'} order by m.parent_id limit 1`;

/**
 * SQL for one message, looked up by itself (`offset 0`). Otherwise the planner may read all messages, if few
 * have replies or many have mentions.
 */
const messageAt = (channel: string, id: string) =>
  `(select m.* from message m where m.channel_id = ${channel} and m.id = ${id} offset 0)`;

/*
 * The caller's threads are found from the caller, channel by channel: threads that the caller began, replied
 * to or was mentioned in, each by an index that begins with channel and person. `replied` steps from one
 * thread to the next and skips the caller's other replies, so the cost depends on the number of threads, not
 * of messages. Messages of a webhook do not count for its creator; webhooks do not reply.
 */
interface ThreadRow extends MessageRow {
  channel_name: string;
  channel_type: string | null;
  unread_count: number;
}

const LIST = onReplica(
  statement<ThreadRow, CallerParams & { unread: boolean; limit: number; skip: number }>(
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
  ),
);

/** The caller's threads in channels that the caller may read, the newest reply first. */
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
