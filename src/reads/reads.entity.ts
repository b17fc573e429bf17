import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../channelbase/channels.entity.ts';
import { User } from '../users/users.entity.ts';

/** The settings and the mark of one person for a channel. Gives no rights. */
export const ChannelReader = defineEntity({
  name: 'ChannelReader',
  tableName: 'channel_reader',
  properties: {
    channel: () => p.manyToOne(Channel).primary().deleteRule('cascade'),
    user: () => p.manyToOne(User).primary().deleteRule('cascade').index(),
    /**
     * Time of the newest message that the person has seen, nanoseconds; null before the person has opened the
     * channel.
     */
    last_read_at: p.bigint('string').nullable(),
    /** The messages that the person wants notices for: `all`, `mentions` or `none`. */
    notify: p.text().default('all'),
    /** Hidden from the person's list until the next message. */
    is_hidden: p.boolean().default(false),
  },
  // Each post looks for people who have hidden its channel; usually there are none.
  indexes: [
    {
      name: 'channel_reader_hidden',
      expression: 'create index "channel_reader_hidden" on "channel_reader" ("channel_id") where "is_hidden"',
    },
  ],
});
