import type { Secret } from '../core/keys.ts';
import { resealColumn, type Tally } from '../database/reseal.ts';
import type { Sql } from '../database/sql.ts';
import { sealedForDelivery } from './deliveries.address.ts';
import { sealedForWebhook } from './webhooks.service.ts';

/** Seals the tokens of webhooks and the addresses of deliveries with the secret in use, where an older one of the list has sealed them. */
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
  return [tokens, addresses];
}
