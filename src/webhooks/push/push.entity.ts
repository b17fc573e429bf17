import { defineEntity, p } from '@mikro-orm/core';
import { Session } from '../../auth/sessions/session.entity.ts';
import { User } from '../../users/users.entity.ts';

/** The pair of keys by which push services recognise this installation (VAPID, RFC 8292). One row. */
export const PushKey = defineEntity({
  name: 'PushKey',
  tableName: 'push_key',
  properties: {
    id: p.integer().primary().autoincrement(false),
    /** Encrypted; the public key follows from it. */
    private_key: p.text(),
    /** Unix seconds. */
    created_at: p.integer(),
  },
});

/** A browser that receives notifications. It ends with the session in which it was subscribed. */
export const PushSubscription = defineEntity({
  name: 'PushSubscription',
  tableName: 'push_subscription',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    session: () => p.manyToOne(Session).deleteRule('cascade').index(),
    /** SHA-256 of the endpoint: a browser has one subscription. */
    endpoint_hash: p.text().unique(),
    /** Scheme and host of the endpoint. */
    origin: p.text(),
    /** Encrypted: the endpoint and the keys of the browser. Who has them can send it notifications. */
    target: p.text(),
    /** Unix seconds. */
    created_at: p.integer(),
  },
});
