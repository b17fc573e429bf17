import type { Secret } from '../core/secrets/keys.ts';
import { resealColumn, type Tally } from '../database/reseal.ts';
import type { Sql } from '../database/sql.ts';
import { sealedForDelivery } from './deliveries/deliveries.address.ts';
import { sealedForPushKey } from './push/push.keys.ts';
import { sealedForTarget } from './push/push.target.ts';
import { sealedForWebhook } from './webhooks.service.ts';

/**
 * Seals webhook tokens, delivery addresses, and keys and targets of web push with the current secret, if an older secret of the list sealed
 * them.
 */
export async function resealWebhooks(sql: Sql, secret: Secret): Promise<Tally[]> {
  const key = 'id::text';
  const tokens = await resealColumn(sql, secret, {
    table: 'channel_webhook',
    column: 'token',
    key,
    sealedFor: sealedForWebhook,
  });
  const addresses = await resealColumn(sql, secret, {
    table: 'delivery',
    column: 'url',
    key,
    sealedFor: sealedForDelivery,
  });
  const pushKeys = await resealColumn(sql, secret, {
    table: 'push_key',
    column: 'private_key',
    key,
    sealedFor: sealedForPushKey,
  });
  const browsers = await resealColumn(sql, secret, {
    table: 'push_subscription',
    column: 'target',
    key: 'endpoint_hash',
    sealedFor: sealedForTarget,
  });
  return [tokens, addresses, pushKeys, browsers];
}
