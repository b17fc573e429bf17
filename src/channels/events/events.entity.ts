import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../../channelbase/channels.entity.ts';

/** The log of changes in a channel. Each entry is written in the transaction of its change. */
export const ChannelEvent = defineEntity({
  name: 'ChannelEvent',
  tableName: 'channel_event',
  properties: {
    channel: () => p.manyToOne(Channel).primary().deleteRule('cascade'),
    id: p.bigint('string').primary(),
    type: p.text(),
    message_id: p.uuid().nullable(),
    /** The author of the change: `{id, name, role}` at that time. */
    actor: p.json<Record<string, unknown>>(),
    data: p.json<Record<string, unknown>>(),
    created_at: p.bigint('string'),
  },
  indexes: [
    { name: 'channel_event_created_at', properties: ['created_at'] },
    // Deleting or editing a message also rewrites its events in the log.
    { name: 'channel_event_message', properties: ['channel', 'message_id'] },
  ],
});
