import { BRIEF } from '../../channelbase/channels.access.repository.ts';
import type { Author, ChannelBrief } from '../../channelbase/channels.brief.schema.ts';
import { channelAllows, READABLE_OF_ALL } from '../../channelbase/channels.policy.ts';
import { ACCOUNT, type Caller, type CallerParams, callerOf } from '../../core/caller.ts';
import { type Sql, statement } from '../../database/sql.ts';
import { inOrder, type MessageView } from '../../messages/messages.schema.ts';
import type { ChannelEventView } from './events.schema.ts';

interface EventRow {
  event_id: number;
  message_id: string | null;
  at: number;
  happening: ChannelEventView['data']['type'];
  payload: ChannelEventView['data']['data'];
  actor: ChannelEventView['user'];
}

const READ = statement<EventRow & ChannelBrief, { channelId: string; after: number; limit: number }>(
  'event.read',
  `select e.id::float8 as event_id, e.message_id, e.created_at::float8 as at, e.type as happening, e.data as payload, e.actor,
          ${BRIEF}
     from channel_event e join channel c on c.id = e.channel_id
    where e.channel_id = :channelId and e.id > :after order by e.id limit :limit`,
);

/** The events of a channel after a number, oldest first. */
export async function readEvents(
  sql: Sql,
  channelId: string,
  after: number,
  limit: number,
): Promise<ChannelEventView[]> {
  return (await sql.rows(READ, { channelId, after, limit })).map(eventOf);
}

function eventOf(row: EventRow & ChannelBrief): ChannelEventView {
  const { event_id, message_id, at, happening, payload, actor, ...channel } = row;
  return {
    event_id,
    channel_id: channel.id,
    message_id,
    created_at: at,
    data: {
      type: happening,
      data: 'content' in payload ? logged(payload) : payload,
    } as ChannelEventView['data'],
    user: actor,
    channel,
  };
}

/** The stored JSON has no order of members, and events of an earlier version have no `files`. */
function logged(message: MessageView): MessageView {
  const { data, reply_to_message: quoted } = message;
  return inOrder({
    ...message,
    data: withFiles(data),
    reply_to_message: quoted && inOrder({ ...quoted, data: withFiles(quoted.data) }),
  });
}

const withFiles = (data: MessageView['data']) => (data.files ? data : { ...data, files: [] });

const HEADS = statement<{ id: string; last_event: number }, { channelIds: string[] }>(
  'event.heads',
  'select id, last_event::float8 as last_event from channel where id = any(:channelIds::uuid[])',
);

/** The number of each channel's newest event. */
export async function readHeads(sql: Sql, channelIds: string[]): Promise<Map<string, number>> {
  const rows = await sql.rows(HEADS, { channelIds });
  return new Map(rows.map(({ id, last_event }) => [id, last_event]));
}

const RECENT_HEADS = statement<{ id: string; last_event: number }, CallerParams & { moment: string }>(
  'event.recent_heads',
  `select c.id, c.last_event::float8 as last_event from channel c
    where c.last_event_at > :moment::bigint and ${READABLE_OF_ALL}`,
);

/**
 * The number of the newest event of each channel that the caller may read, for channels with an event after a
 * moment.
 *
 * @param moment nanoseconds, as text
 */
export async function readRecentHeads(
  sql: Sql,
  caller: Caller,
  moment: string,
): Promise<Map<string, number>> {
  const rows = await sql.rows(RECENT_HEADS, { ...callerOf(caller), moment });
  return new Map(rows.map(({ id, last_event }) => [id, last_event]));
}

interface Position {
  id: string;
  /** The number of the channel's newest event. */
  head: number;
  /** The number of its newest event that is not later than the moment. */
  position: number;
}

const POSITIONS = statement<Position, { channelIds: string[]; moment: string }>(
  'event.positions',
  `select c.id, c.last_event::float8 as head,
          coalesce((select max(e.id) from channel_event e
            where e.channel_id = c.id and e.created_at <= :moment::bigint),
            case when c.pruned_at <= :moment::bigint then c.pruned_event else 0 end)::float8 as position
     from channel c where c.id = any(:channelIds::uuid[])`,
);

/**
 * The newest event number of each channel, now and at a moment.
 *
 * @param moment nanoseconds, as text
 */
export const readPositions = (sql: Sql, channelIds: string[], moment: string): Promise<Position[]> =>
  sql.rows(POSITIONS, { channelIds, moment });

const CLOCK = statement<{ now: number }>(
  'event.clock',
  'select (extract(epoch from now()) * 1000000)::bigint::float8 as now',
);

/** The time of the database in microseconds. Events have the times of this clock. */
export async function readClock(sql: Sql): Promise<number> {
  const [row] = await sql.rows(CLOCK);
  return row?.now ?? 0;
}

const PRUNE = statement<{ count: number }, { before: string; limit: number }>(
  'event.prune',
  `with old as materialized (
     select channel_id, id, created_at from channel_event where created_at < :before::bigint order by created_at limit :limit
   ), held as materialized (
     select id from channel where id in (select channel_id from old) order by id for no key update skip locked
   ), gone as (
     delete from channel_event e using old, held
      where held.id = old.channel_id and e.channel_id = old.channel_id and e.id = old.id
      returning e.channel_id, e.id, e.created_at
   ), pruned as (
     update channel c set pruned_event = g.id, pruned_at = g.created_at
       from (select channel_id, max(id) as id, max(created_at) as created_at from gone group by channel_id) g
      where c.id = g.channel_id
   )
   select count(*)::int as count from gone`,
);

/**
 * Deletes the oldest events from the log, at most `limit`. Skips channels that are locked at this moment: an
 * edit locks the channel before its events, and the other order could deadlock.
 *
 * @param before nanoseconds, as text
 * @returns the number of deleted events
 */
export async function pruneEvents(sql: Sql, before: string, limit: number): Promise<number> {
  const [row] = await sql.rows(PRUNE, { before, limit });
  return row?.count ?? 0;
}

export const SHARED = statement<Author & { channel_id: string }, { userIds: string[]; channelIds: string[] }>(
  'event.presence',
  `select c.id as channel_id, u.id, u.name, u.role from channel c join users u on u.id = any(:userIds::uuid[])
    where c.id = any(:channelIds::uuid[]) and u.role <> 'pending' and ${channelAllows('read', ACCOUNT)}`,
);
