import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../channelbase/channels.entity.ts';
import { User } from '../users/users.entity.ts';

/** What a person keeps of a channel for themselves; gives no right to anything. */
export const ChannelReader = defineEntity({
  name: 'ChannelReader',
  tableName: 'channel_reader',
  properties: {
    channel: () => p.manyToOne(Channel).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /** Time of the newest message that they have seen, nanoseconds; null before they have opened the channel. */
    last_read_at: p.bigint('string').nullable(),
    /** What they want to be told of: `all`, `mentions` or `none`. */
    notify: p.text().default('all'),
    /** Taken off their list, until the next message. */
    is_hidden: p.boolean().default(false),
  },
  // Each post looks for those who took its channel off their list: hardly ever anybody.
  indexes: [
    {
      name: 'channel_reader_hidden',
      expression: 'create index "channel_reader_hidden" on "channel_reader" ("channel_id") where "is_hidden"',
    },
  ],
});
