import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/**
 * A message board. Times are nanoseconds since the epoch, kept at whole microseconds. Its row is also the clock of its
 * messages and events: whoever writes one takes the next number from here, under the row's lock.
 */
export const Channel = defineEntity({
  name: 'Channel',
  tableName: 'channel',
  properties: {
    id: p.uuid().primary(),
    user_id: p.uuid(),
    /** Null for a standard channel, whose readers are named by grants; `group` and `dm` have members instead. */
    type: p.text().nullable(),
    name: p.text(),
    description: p.text().nullable(),
    is_private: p.boolean().nullable(),
    data: p.json<Record<string, unknown> | null>().nullable(),
    meta: p.json<Record<string, unknown> | null>().nullable(),
    created_at: p.bigint('string'),
    updated_at: p.bigint('string'),
    updated_by: p.uuid().nullable(),
    /** Number of the newest event; they have no gaps. */
    last_event: p.bigint('string').default(0),
    /** Time of the newest message or change; the next is later than this. */
    last_event_at: p.bigint('string').default(0),
    last_message_at: p.bigint('string').nullable(),
    /** Number of the newest event that the log does not hold any more. */
    pruned_event: p.bigint('string').default(0),
    /** Time of that event, nanoseconds. */
    pruned_at: p.bigint('string').default(0),
    /** Who is in a direct channel, as one text: there is one such channel for the same people. */
    dm_key: p.text().nullable().unique(),
  },
  // Nobody looks for those with members by who made them.
  indexes: [
    {
      name: 'channel_owner',
      expression: 'create index "channel_owner" on "channel" ("user_id") where "type" is null',
    },
  ],
});

export type ChannelEntity = InferEntity<typeof Channel>;
