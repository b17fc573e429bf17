import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../channelbase/channels.entity.ts';
import { User } from '../users/users.entity.ts';

/**
 * A member of a group or direct channel. The row alone gives the rights: it is deleted when a person leaves
 * or is removed.
 */
export const ChannelMember = defineEntity({
  name: 'ChannelMember',
  tableName: 'channel_member',
  properties: {
    channel: () => p.manyToOne(Channel).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /** `manager` for the managers of a group. */
    role: p.text().nullable(),
    invited_by: p.uuid().nullable(),
    /** Nanoseconds. */
    joined_at: p.bigint('string'),
  },
});
