import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../channelbase/channels.entity.ts';

/*
 * Keys of tables about messages begin with the channel, so that the tables can be partitioned by channel.
 * Their foreign keys to `message` share that column, which MikroORM cannot declare; the migration adds them.
 */

/** A message. `parent_id` is the root of its thread. */
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
    /** Updated with each reply, so that lists do not count. */
    reply_count: p.integer().default(0),
    latest_reply_at: p.bigint('string').nullable(),
    /** True from the first reply on, even if all replies are deleted. */
    has_thread: p.boolean().default(false),
    created_at: p.bigint('string'),
    updated_at: p.bigint('string'),
    /** `user`, `webhook` or `model`: see `MessageAuthor`. */
    author_type: p.text().defaultRaw(`'user'`),
    /** The id of the webhook or model; null for an account, which is in `user_id`. */
    author_id: p.text().nullable(),
    /** Set on a tombstone: the message was deleted, and the row keeps the thread. */
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
    // For the threads that a person began or replied to. With a counter in the condition, each reply would
    // write all indexes of the root again, the index of words included; `has_thread` changes once.
    {
      name: 'message_replied',
      expression:
        'create index "message_replied" on "message" ("channel_id", "user_id", "parent_id") where "parent_id" is not null',
    },
    {
      name: 'message_began',
      expression: 'create index "message_began" on "message" ("channel_id", "user_id") where "has_thread"',
    },
    // Unread messages are counted with these two indexes alone, without the table.
    {
      name: 'message_time',
      expression:
        'create index "message_time" on "message" ("channel_id", "created_at") include ("user_id", "deleted_at")',
    },
    {
      name: 'message_by_program',
      expression: `create index "message_by_program" on "message" ("channel_id", "user_id", "created_at") where "author_type" <> 'user'`,
    },
    {
      name: 'message_pinned',
      expression: 'create index "message_pinned" on "message" ("channel_id", "pinned_at") where "is_pinned"',
    },
    // For searches: the newest messages of all channels, and the messages of a program.
    { name: 'message_moment', properties: ['created_at', 'id'] },
    {
      name: 'message_author',
      expression: 'create index "message_author" on "message" ("author_id") where "author_id" is not null',
    },
    {
      name: 'message_search',
      expression: `create index "message_search" on "message" using gin (to_tsvector('simple', "content"))`,
    },
  ],
});

/** The clients' own ids of messages, kept for a day: a repeated post returns the first message. */
export const MessageTempId = defineEntity({
  name: 'MessageTempId',
  tableName: 'message_temp_id',
  properties: {
    channel_id: p.uuid().primary(),
    user_id: p.uuid().primary(),
    temp_id: p.text().primary(),
    message_id: p.uuid(),
    /** The time of the message, nanoseconds. */
    created_at: p.bigint('string').index(),
  },
});
