import { defineEntity, p } from '@mikro-orm/core';

/** A person whom a message mentions; the nil UUID stands for all readers of the channel. */
export const MessageMention = defineEntity({
  name: 'MessageMention',
  tableName: 'message_mention',
  properties: {
    channel_id: p.uuid().primary(),
    message_id: p.uuid().primary(),
    user_id: p.uuid().primary(),
    /** The time of the message, nanoseconds. */
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
