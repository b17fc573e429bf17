import { statement } from '../database/sql.ts';
import { BRIEF, NEXT_MOMENT } from './channels.access.repository.ts';
import type { ChannelBrief } from './channels.brief.schema.ts';

type RecordedRow = ChannelBrief & { event_id: number; at: number };

export const RECORD = statement<
  RecordedRow,
  { channelIds: string[]; type: string; actor: string; data: string }
>(
  'channel.record',
  `with ticked as (
     update channel set last_event = last_event + 1, last_event_at = ${NEXT_MOMENT} where id = any(:channelIds::uuid[])
     returning *
   ), logged as (
     insert into channel_event (channel_id, id, type, actor, data, created_at)
     select id, last_event, :type, :actor::jsonb, :data::jsonb, last_event_at from ticked
   )
   select ${BRIEF}, c.last_event::float8 as event_id, c.last_event_at::float8 as at from ticked c`,
);
