import { NOW } from '../channelbase/channels.access.repository.ts';
import { CAN_READ, inReach } from '../channelbase/channels.policy.ts';
import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import { EVERYONE } from '../mentions/mentions.repository.ts';
import { isByProgram } from '../messages/messages.author.ts';
import { COUNT_LIMIT, type NotifyLevel } from './reads.schema.ts';

/*
 * What the caller keeps of a channel `c`. Before they have opened it, what counts as seen is what is older than their
 * membership, and in a standard channel than their account.
 */
export const READER = `left join channel_reader r on r.channel_id = c.id and r.user_id = :callerId
  left join channel_member mine on mine.channel_id = c.id and mine.user_id = :callerId
  cross join lateral (select coalesce(r.last_read_at, mine.joined_at,
    (select u.created_at::bigint * 1000000000 from users u where u.id = :callerId)) as seen_at) s`;

/** SQL for whether the row `m` counts as new for the caller: a message of somebody else's, of a program or of a model. */
export const IS_NEWS = `m.deleted_at is null and (m.user_id <> :callerId or ${isByProgram('m')})`;

/** SQL for the newest rows of the channel `c` behind the caller's mark, as many as are counted. */
const newest = (rows: string) =>
  `(${rows} and c.last_message_at > s.seen_at and m.created_at > s.seen_at order by m.created_at desc limit ${COUNT_LIMIT})`;

/*
 * The limit is on what is looked at, not on what counts: a caller's own hundreds must not be walked either. What others wrote and what
 * the caller's programs wrote are counted apart, each by an index alone: the messages themselves lie all over the table.
 */
const ALL_NEW = newest('select m.user_id, m.deleted_at from message m where m.channel_id = c.id');
const OWN_PROGRAMS = newest(
  `select from message m where m.channel_id = c.id and m.user_id = :callerId and m.deleted_at is null and ${isByProgram('m')}`,
);
export const UNREAD_COUNT = `least(${COUNT_LIMIT},
    (select count(*) filter (where m.user_id <> :callerId and m.deleted_at is null) from ${ALL_NEW} m)
    + (select count(*) from ${OWN_PROGRAMS} m))::int`;

const mentionsOf = (whom: string) =>
  newest(`select m.message_id from message_mention m where m.channel_id = c.id and m.user_id = ${whom}`);
/** Without the reader's own messages: an author has seen everything up to the own post. */
export const MENTION_COUNT = `least(${COUNT_LIMIT},
    (select count(*) from (${mentionsOf(CALLER.id)} union ${mentionsOf(`'${EVERYONE}'`)}) m))::int`;

/** SQL for whether the channel `c` is one that the caller is in, owns or was granted; needs `READER`. */
export const OWN = `${inReach({ ...CALLER, isAdmin: 'false' })} and (c.type is null or mine.user_id is not null)`;
/** SQL for whether it is on their list; needs `READER`. */
export const LISTED = `${OWN} and r.is_hidden is not true`;

/** Where the caller stands in a channel after a mark, and whether that took anything off what is new for them. */
export interface Mark {
  /** Nanoseconds. */
  last_read_at: number;
  unread_count: number;
  mention_count: number;
  /** Whether something in the channel is younger than the mark that was there before. */
  had_news: boolean;
}

// The mark never goes back, and never beyond what there is: a mark in the future would hide what comes.
const MARK = statement<
  Mark | { last_read_at: null },
  CallerParams & { channelId: string; at: string | null }
>(
  'reader.mark',
  `with target as (
     select c.*, ${CAN_READ} as can_read, s.seen_at as was,
            least(:at::bigint, greatest(${NOW}, c.last_message_at)) as read_at
       from channel c ${READER} where c.id = :channelId
   ), marked as (
     insert into channel_reader as r (channel_id, user_id, last_read_at)
     select id, :callerId, read_at from target where can_read
     on conflict (channel_id, user_id) do update set
       last_read_at = greatest(r.last_read_at, excluded.last_read_at)
     returning last_read_at
   )
   select s.seen_at::float8 as last_read_at, ${UNREAD_COUNT} as unread_count, ${MENTION_COUNT} as mention_count,
          coalesce(c.last_message_at > c.was, false) as had_news
     from target c left join (select last_read_at as seen_at from marked) s on true`,
);

/**
 * Notes up to where the caller has read a channel.
 *
 * @param at nanoseconds, as text; null for everything there is
 * @returns undefined without a channel, null when the caller may not read it
 */
export async function markChannel(
  sql: Sql,
  caller: Caller,
  channelId: string,
  at: string | null,
): Promise<Mark | null | undefined> {
  const [row] = await sql.rows(MARK, { ...callerOf(caller), channelId, at });
  return row?.last_read_at === null ? null : row;
}

const NOTIFY = statement<{ can_read: boolean }, CallerParams & { channelId: string; level: NotifyLevel }>(
  'reader.notify',
  `with target as (select c.id, ${CAN_READ} as can_read from channel c where c.id = :channelId),
        stored as (
          insert into channel_reader (channel_id, user_id, notify) select id, :callerId, :level from target where can_read
          on conflict (channel_id, user_id) do update set notify = excluded.notify)
   select can_read from target`,
);

/** Stores what the caller wants to be told of. @returns undefined without a channel, null when they may not read it */
export async function storeNotify(
  sql: Sql,
  caller: Caller,
  channelId: string,
  level: NotifyLevel,
): Promise<true | null | undefined> {
  const [row] = await sql.rows(NOTIFY, { ...callerOf(caller), channelId, level });
  return row && (row.can_read ? true : null);
}

const HIDE = statement<Hidden, { channelId: string; userId: string; isHidden: boolean }>(
  'reader.hide',
  `with before as (
     select r.is_hidden from channel_reader r where r.channel_id = :channelId and r.user_id = :userId
   ), stored as (
     insert into channel_reader as r (channel_id, user_id, is_hidden, last_read_at)
     select m.channel_id, m.user_id, :isHidden, case when :isHidden then greatest(c.last_message_at, ${NOW}) end
       from channel_member m join channel c on c.id = m.channel_id where m.channel_id = :channelId and m.user_id = :userId
     on conflict (channel_id, user_id) do update set
       is_hidden = excluded.is_hidden, last_read_at = greatest(r.last_read_at, excluded.last_read_at)
     returning last_read_at
   )
   select coalesce((select is_hidden from before), false) as was_hidden, last_read_at::float8 from stored`,
);

/** Where a channel stood on a member's list, and up to where they have read it: nanoseconds, null for never. */
interface Hidden {
  was_hidden: boolean;
  last_read_at: number | null;
}

/**
 * Takes a channel off a member's list, which also counts it as read, or puts it back.
 *
 * @returns undefined when they are not in it
 */
export async function storeHidden(
  sql: Sql,
  userId: string,
  channelId: string,
  isHidden: boolean,
): Promise<Hidden | undefined> {
  const [row] = await sql.rows(HIDE, { channelId, userId, isHidden });
  return row;
}

/** What is new for somebody, in all their channels together. */
export interface UnreadTotals {
  /** How many channels hold something new. */
  channel_count: number;
  unread_count: number;
  mention_count: number;
}

// The level says what somebody wants to be told of, and a total is for telling: the counts of each channel are facts.
// Materialised, as the counts are used twice and would be made twice.
const TOTALS = statement<UnreadTotals, { callerId: string }>(
  'reader.totals',
  `with counted as materialized (
     select case when r.notify is null or r.notify = 'all' then ${UNREAD_COUNT} else 0 end as unread,
            case when r.notify is distinct from 'none' then ${MENTION_COUNT} else 0 end as mentions
       from channel c ${READER} where ${LISTED}
   )
   select (count(*) filter (where unread + mentions > 0))::int as channel_count,
          coalesce(sum(unread), 0)::int as unread_count, coalesce(sum(mentions), 0)::int as mention_count from counted`,
);

/** Totals for a badge: of channels at level `mentions` mentions alone, of those at `none` nothing. */
export async function readTotals(sql: Sql, caller: Caller): Promise<UnreadTotals> {
  const [row] = await sql.rows(TOTALS, { callerId: caller.id });
  return row ?? { channel_count: 0, unread_count: 0, mention_count: 0 };
}
