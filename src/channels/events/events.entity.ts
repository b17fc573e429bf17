import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../../channelbase/channels.entity.ts';

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
