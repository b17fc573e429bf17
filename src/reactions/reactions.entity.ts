import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../users/users.entity.ts';

/*
 * What hangs on a message. Keys begin with the channel, so that the tables can be partitioned by it; the keys to `message` share
 * that column, which MikroORM cannot declare, so the migration adds them by hand.
 */

/** One person's reaction to a message. Time decides the order in which names are shown. */
export const MessageReaction = defineEntity({
  name: 'MessageReaction',
  tableName: 'message_reaction',
  properties: {
    channel_id: p.uuid().primary(),
    message_id: p.uuid().primary(),
    name: p.text().primary(),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /** Nanoseconds. */
    created_at: p.bigint('string'),
  },
});

/** Whom a message mentions; the nil UUID stands for everybody in the channel. */
export const MessageMention = defineEntity({
  name: 'MessageMention',
  tableName: 'message_mention',
  properties: {
    channel_id: p.uuid().primary(),
    message_id: p.uuid().primary(),
    user_id: p.uuid().primary(),
    /** The message's, nanoseconds. */
    created_at: p.bigint('string'),
  },
  indexes: [
    {
      name: 'message_mention_user',
      expression:
        'create index "message_mention_user" on "message_mention" ("channel_id", "user_id", "created_at") include ("message_id")',
    },
  ],
});

/** The client's own ids of messages, kept for a day: a post that is sent again gives the first message again. */
export const MessageTempId = defineEntity({
  name: 'MessageTempId',
  tableName: 'message_temp_id',
  properties: {
    channel_id: p.uuid().primary(),
    user_id: p.uuid().primary(),
    temp_id: p.text().primary(),
    message_id: p.uuid(),
    /** The message's, nanoseconds. */
    created_at: p.bigint('string').index(),
  },
});
