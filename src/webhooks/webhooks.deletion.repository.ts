import { statement } from '../database/sql.ts';
import type { OnAccountDeleted } from '../noun.ts';

const PASS_ON_WEBHOOKS = statement<{ id: string }, { deleted: string; heir: string }>(
  'webhooks.pass_on',
  'update channel_webhook set user_id = :heir where user_id = :deleted returning id',
);

export const passOnWebhooks: OnAccountDeleted = async (_scope, tx, { deleted, heir }) => ({
  passed: { webhooks: (await tx.rows(PASS_ON_WEBHOOKS, { deleted, heir })).map(({ id }) => id) },
});
