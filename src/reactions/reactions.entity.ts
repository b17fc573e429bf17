import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../users/users.entity.ts';

/** A reaction of one person to a message. Names are shown in the order of their first use. */
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
