import { type Sql, statement } from '../database/sql.ts';
import type { ChannelEventView } from './messages.schema.ts';

const READ = statement<{ event: ChannelEventView }>(
  'event.read',
  `select json_build_object('event_id', e.id, 'channel_id', e.channel_id, 'message_id', e.message_id,
       'created_at', e.created_at, 'data', json_build_object('type', e.type, 'data', e.data), 'user', e.actor,
       'channel', json_build_object('id', c.id, 'user_id', c.user_id, 'type', c.type, 'name', c.name,
         'description', c.description, 'is_private', c.is_private, 'data', c.data, 'meta', c.meta,
         'created_at', c.created_at, 'updated_at', c.updated_at, 'updated_by', c.updated_by)) as event
     from channel_event e join channel c on c.id = e.channel_id
    where e.channel_id = $1 and e.id > $2 order by e.id limit $3`,
);

/** The events of a channel that follow a number, oldest first. */
export async function readEvents(
  sql: Sql,
  channelId: string,
  after: number,
  limit: number,
): Promise<ChannelEventView[]> {
  const rows = await sql.rows(READ, [channelId, after, limit]);
  return rows.map(({ event }) => event);
}

const HEADS = statement<{ id: string; last_event: number }>(
  'event.heads',
  'select id, last_event::float8 as last_event from channel where id = any($1::uuid[])',
);

/** The number of each channel's newest event. */
export async function readHeads(sql: Sql, channelIds: string[]): Promise<Map<string, number>> {
  const rows = await sql.rows(HEADS, [channelIds]);
  return new Map(rows.map(({ id, last_event }) => [id, last_event]));
}

const POSITIONS = statement<{ id: string; position: number }>(
  'event.positions',
  `select c.id, coalesce((select max(e.id) from channel_event e
       where e.channel_id = c.id and e.created_at <= $2::bigint), 0)::float8 as position
     from channel c where c.id = any($1::uuid[])`,
);

/**
 * For each channel the number of the newest event that is not later than a moment.
 *
 * @param moment nanoseconds, as text
 */
export async function readPositions(
  sql: Sql,
  channelIds: string[],
  moment: string,
): Promise<Map<string, number>> {
  const rows = await sql.rows(POSITIONS, [channelIds, moment]);
  return new Map(rows.map(({ id, position }) => [id, position]));
}

const CLOCK = statement<{ now: string }>(
  'event.clock',
  'select ((extract(epoch from now()) * 1000000)::bigint * 1000)::text as now',
);

/** The database's time in nanoseconds, as text: the clock that events are stamped by. */
export async function readClock(sql: Sql): Promise<string> {
  const [row] = await sql.rows(CLOCK, []);
  return row?.now ?? '0';
}
