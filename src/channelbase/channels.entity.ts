import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * A message board. Times are nanoseconds since the epoch, at whole microseconds. The row is also the clock of
 * the channel's messages and events: each takes the next number from it, under the lock of the row.
 */
export const Channel = defineEntity({
  name: 'Channel',
  tableName: 'channel',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    /** Null for a standard channel, whose readers have grants; `group` and `dm` have members. */
    type: p.text().nullable(),
    name: p.text(),
    description: p.text().nullable(),
    is_private: p.boolean().nullable(),
    data: p.json<Record<string, unknown> | null>().nullable(),
    meta: p.json<Record<string, unknown> | null>().nullable(),
    created_at: p.bigint('string'),
    updated_at: p.bigint('string'),
    updated_by: p.uuid().nullable(),
    /** Number of the newest event. The numbers have no gaps. */
    last_event: p.bigint('string').default(0),
    /** Time of the newest message or change. The time of the next one is later. */
    last_event_at: p.bigint('string').default(0),
    last_message_at: p.bigint('string').nullable(),
    /** Number of the newest event that was deleted from the log. */
    pruned_event: p.bigint('string').default(0),
    /** Time of that event, nanoseconds. */
    pruned_at: p.bigint('string').default(0),
    /** A hash of the members of a direct channel. The same people have only one direct channel. */
    dm_key: p.text().nullable().unique(),
  },
  // Partial index: group and direct channels are never queried by owner.
  indexes: [
    {
      name: 'channel_owner',
      expression: 'create index "channel_owner" on "channel" ("user_id") where "type" is null',
    },
  ],
});

export type ChannelEntity = InferEntity<typeof Channel>;
