import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../channelbase/channels.entity.ts';
import { User } from '../users/users.entity.ts';

/** Who belongs to a group or direct channel. A row is the whole right: whoever leaves or is removed has none. */
export const ChannelMember = defineEntity({
  name: 'ChannelMember',
  tableName: 'channel_member',
  properties: {
    channel: () => p.manyToOne(Channel).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /** `manager` for those in charge. */
    role: p.text().nullable(),
    invited_by: p.uuid().nullable(),
    /** Nanoseconds. */
    joined_at: p.bigint('string'),
  },
});
