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

/** A message; `parent_id` names the root of the thread that it belongs to. */
export const Message = defineEntity({
  name: 'Message',
  tableName: 'message',
  properties: {
    channel: () => p.manyToOne(Channel).primary().deleteRule('cascade'),
    id: p.uuid().primary(),
    user_id: p.uuid().index(),
    content: p.text(),
    reply_to_id: p.uuid().nullable(),
    parent_id: p.uuid().nullable(),
    is_pinned: p.boolean().default(false),
    pinned_by: p.uuid().nullable(),
    pinned_at: p.bigint('string').nullable(),
    data: p.json<Record<string, unknown>>(),
    meta: p.json<Record<string, unknown>>(),
    /** Kept by the writes of replies, so that no list has to count. */
    reply_count: p.integer().default(0),
    latest_reply_at: p.bigint('string').nullable(),
    /** Whether it ever had a reply: set by the first, and left so. */
    has_thread: p.boolean().default(false),
    created_at: p.bigint('string'),
    updated_at: p.bigint('string'),
    /** Set when a program posted it: the webhook is shown as its author, and `user_id` is who made that. */
    webhook_id: p.uuid().nullable(),
    /** Set on a tombstone: the message is gone, and its row holds the thread. */
    deleted_at: p.bigint('string').nullable(),
  },
  indexes: [
    {
      name: 'message_main_line',
      expression:
        'create index "message_main_line" on "message" ("channel_id", "created_at") where "parent_id" is null',
    },
    {
      name: 'message_thread',
      expression:
        'create index "message_thread" on "message" ("channel_id", "parent_id", "created_at") where "parent_id" is not null',
    },
    // The threads that somebody replied to, and those that they began. A condition that names a counter would have every reply
    // write all indexes of the root anew, its words included; `has_thread` changes once.
    {
      name: 'message_replied',
      expression:
        'create index "message_replied" on "message" ("channel_id", "user_id", "parent_id") where "parent_id" is not null',
    },
    {
      name: 'message_began',
      expression: 'create index "message_began" on "message" ("channel_id", "user_id") where "has_thread"',
    },
    // What is new is counted by these two alone, without a look at the messages.
    {
      name: 'message_time',
      expression:
        'create index "message_time" on "message" ("channel_id", "created_at") include ("user_id", "deleted_at")',
    },
    {
      name: 'message_by_program',
      expression: `create index "message_by_program" on "message" ("channel_id", "user_id", "created_at") where "webhook_id" is not null or jsonb_exists("meta", 'model_id')`,
    },
    {
      name: 'message_pinned',
      expression: 'create index "message_pinned" on "message" ("channel_id", "pinned_at") where "is_pinned"',
    },
    // For searches: the newest of all channels, and what a program posted.
    { name: 'message_moment', properties: ['created_at', 'id'] },
    {
      name: 'message_webhook',
      expression: 'create index "message_webhook" on "message" ("webhook_id") where "webhook_id" is not null',
    },
    {
      name: 'message_search',
      expression: `create index "message_search" on "message" using gin (to_tsvector('simple', "content"))`,
    },
  ],
});

/** The log of what happened in a channel, written with the change itself. */
export const ChannelEvent = defineEntity({
  name: 'ChannelEvent',
  tableName: 'channel_event',
  properties: {
    channel: () => p.manyToOne(Channel).primary().deleteRule('cascade'),
    id: p.bigint('string').primary(),
    type: p.text(),
    message_id: p.uuid().nullable(),
    /** Who did it: `{id, name, role}` as it was then. */
    actor: p.json<Record<string, unknown>>(),
    data: p.json<Record<string, unknown>>(),
    created_at: p.bigint('string'),
  },
  indexes: [
    { name: 'channel_event_created_at', properties: ['created_at'] },
    // What is deleted or edited is taken out of the log as well.
    { name: 'channel_event_message', properties: ['channel', 'message_id'] },
  ],
});
