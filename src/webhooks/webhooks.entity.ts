import { defineEntity, p } from '@mikro-orm/core';
import { Channel } from '../channelbase/channels.entity.ts';
import { User } from '../users/users.entity.ts';
import { PushSubscription } from './push/push.entity.ts';

/** An address by which programs post into a channel. Times are nanoseconds. */
export const ChannelWebhook = defineEntity({
  name: 'ChannelWebhook',
  tableName: 'channel_webhook',
  properties: {
    id: p.uuid().primary(),
    channel: () => p.manyToOne(Channel).deleteRule('cascade').index(),
    /** The creator. */
    user_id: p.uuid(),
    name: p.text(),
    profile_image_url: p.text().nullable(),
    /** Encrypted, not hashed: managers can see the address again. */
    token: p.text(),
    last_used_at: p.bigint('string').nullable(),
    created_at: p.bigint('string'),
    updated_at: p.bigint('string'),
  },
});

/** A notification to a user's webhook or browser, and its state. Times are seconds. */
export const Delivery = defineEntity({
  name: 'Delivery',
  tableName: 'delivery',
  properties: {
    id: p.uuid().primary(),
    /** The recipient; null for the installation's own webhook. */
    user: () => p.manyToOne(User).nullable().deleteRule('cascade').index(),
    channel_id: p.uuid().nullable(),
    message_id: p.uuid().nullable(),
    /** `webhook` or `push`. */
    kind: p.text().default('webhook'),
    /** The browser, for `push`; null if it is no longer subscribed. */
    push: () => p.manyToOne(PushSubscription).nullable().deleteRule('set null').index(),
    /** Encrypted: webhook addresses are secrets. Of a browser, only its push service. */
    url: p.text(),
    payload: p.json<Record<string, unknown>>(),
    /** `pending`, `delivered` or `failed`. */
    status: p.text().default('pending'),
    attempts: p.integer().default(0),
    /** Time of the next attempt; null if there is none. */
    next_attempt_at: p.integer().nullable(),
    response_status: p.integer().nullable(),
    error: p.text().nullable(),
    created_at: p.integer().index(),
    updated_at: p.integer(),
  },
  indexes: [
    {
      name: 'delivery_due',
      expression:
        'create index "delivery_due" on "delivery" ("next_attempt_at") where "next_attempt_at" is not null',
    },
  ],
});
