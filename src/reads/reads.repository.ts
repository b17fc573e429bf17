import { NOW } from '../channelbase/channels.access.repository.ts';
import { CAN_READ, inReach } from '../channelbase/channels.policy.ts';
import { CALLER, type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import { EVERYONE } from '../mentions/mentions.repository.ts';
import { isByProgram } from '../messages/messages.author.ts';
import { COUNT_LIMIT, type NotifyLevel } from './reads.schema.ts';

/*
 * The caller's mark and settings for a channel `c`. Before the caller has opened it, everything older than
 * the membership counts as seen; in a standard channel, everything older than the account.
 */
export const READER = `left join channel_reader r on r.channel_id = c.id and r.user_id = :callerId
  left join channel_member mine on mine.channel_id = c.id and mine.user_id = :callerId
  cross join (select u.created_at::bigint * 1000000000 as since from users u where u.id = :callerId) me
  cross join lateral (select coalesce(r.last_read_at, mine.joined_at, me.since) as seen_at) s`;

/**
 * SQL for whether the row `m` counts as new for the caller: a message of another person, a webhook or a
 * model.
 */
export const IS_NEWS = `m.deleted_at is null and (m.user_id <> :callerId or ${isByProgram('m')})`;

/** SQL for the newest rows of the channel `c` after the caller's mark, up to the limit of counting. */
const newest = (rows: string) =>
  `(${rows} and c.last_message_at > s.seen_at and m.created_at > s.seen_at order by m.created_at desc limit ${COUNT_LIMIT})`;

/*
 * The limit applies to the rows that are read, not to the rows that count: hundreds of the caller's own
 * messages must not be read either. Messages of other authors and of the caller's programs are counted apart,
 * each with an index alone, because the table holds the messages in no useful order.
 */
const ALL_NEW = newest('select m.user_id, m.deleted_at from message m where m.channel_id = c.id');
const OWN_PROGRAMS = newest(
  `select from message m where m.channel_id = c.id and m.user_id = :callerId and m.deleted_at is null and ${isByProgram('m')}`,
);
const UNREAD_COUNT = `least(${COUNT_LIMIT},
    (select count(*) filter (where m.user_id <> :callerId and m.deleted_at is null) from ${ALL_NEW} m)
    + (select count(*) from ${OWN_PROGRAMS} m))::int`;

const mentionsOf = (whom: string, condition = 'true') =>
  newest(`select from message_mention m where m.channel_id = c.id and m.user_id = ${whom} and ${condition}`);
/** A message that mentions both the caller and everyone counts once. */
const NOT_BY_NAME = `not exists (
  select from message_mention own where own.channel_id = m.channel_id and own.message_id = m.message_id and own.user_id = :callerId)`;
/** An author has seen everything up to the own message, so own messages need no exception. */
const MENTION_COUNT = `least(${COUNT_LIMIT},
    (select count(*) from ${mentionsOf(CALLER.id)} m) + (select count(*) from ${mentionsOf(`'${EVERYONE}'`, NOT_BY_NAME)} m))::int`;
/** SQL for the counts `n` of the channel `c`; null where nothing is new, which is seen without reading a message. Needs `READER`. */
export const COUNTS = `left join lateral (
    select ${UNREAD_COUNT} as unread_count, ${MENTION_COUNT} as mention_count where c.last_message_at > s.seen_at offset 0) n on true`;

/** SQL for whether one of `OWN_CHANNELS` is in the list of all of them: a grant does not open a channel with members. Needs `READER`. */
export const IS_OWN = '(c.type is null or mine.user_id is not null)';
/** SQL for whether it is in the caller's list. */
export const IS_LISTED = `${IS_OWN} and r.is_hidden is not true`;
/** SQL for the same, for a channel `c` among all. */
export const LISTED = `${inReach({ ...CALLER, isAdmin: 'false' })} and ${IS_LISTED}`;

/** The caller's mark in a channel, and the counts after it. */
export interface Mark {
  /** Nanoseconds. */
  last_read_at: number;
  unread_count: number;
  mention_count: number;
  /** Whether the channel had something newer than the previous mark. */
  had_news: boolean;
}

// The mark never goes back, and never into the future, where it would hide later messages.
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
 * Stores how far the caller has read a channel.
 *
 * @param at nanoseconds, as text; null for everything
 * @returns undefined if the channel does not exist, null if the caller may not read it
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

/**
 * Stores the caller's level of notices. @returns undefined if the channel does not exist, null if the caller
 * may not read it
 */
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

/** Whether the channel was hidden before, and the mark: nanoseconds, null for never. */
interface Hidden {
  was_hidden: boolean;
  last_read_at: number | null;
}

/**
 * Hides a channel from a member's list, which also marks it as read, or shows it again.
 *
 * @returns undefined if the person is not a member
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

/** Unread counts of a person over all channels. */
export interface UnreadTotals {
  /** The number of channels with unread messages. */
  channel_count: number;
  unread_count: number;
  mention_count: number;
}

// Totals follow the level of notices; the counts of each channel do not. Materialised, because the counts are
// used twice and would be computed twice.
const TOTALS = statement<UnreadTotals, { callerId: string }>(
  'reader.totals',
  `with counted as materialized (
     select case when r.notify is null or r.notify = 'all' then n.unread_count end as unread,
            case when r.notify is distinct from 'none' then n.mention_count end as mentions
       from channel c ${READER} ${COUNTS} where ${LISTED}
   )
   select (count(*) filter (where coalesce(unread, 0) + coalesce(mentions, 0) > 0))::int as channel_count,
          coalesce(sum(unread), 0)::int as unread_count, coalesce(sum(mentions), 0)::int as mention_count from counted`,
);

/** Totals for a badge: at level `mentions` only mentions count, at `none` nothing. */
export async function readTotals(sql: Sql, caller: Caller): Promise<UnreadTotals> {
  const [row] = await sql.rows(TOTALS, { callerId: caller.id });
  return row ?? { channel_count: 0, unread_count: 0, mention_count: 0 };
}
