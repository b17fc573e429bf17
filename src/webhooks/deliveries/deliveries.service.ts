import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import { transaction } from '../../database/transaction.ts';
import { maskUrl, openUrl } from './deliveries.address.ts';
import { listAllRows, listRows, redeliverRow } from './deliveries.repository.ts';
import type { DeliveryView, ListedDelivery } from './deliveries.schema.ts';
import { enqueueDeliveries } from './deliveries.store.ts';

const toView = <Row extends DeliveryView>({ secret }: Scope, row: Row): Row => ({
  ...row,
  url: maskUrl(secret, row.id, row.url),
});

/** The caller's notifications and their states, newest first. */
export async function listDeliveries(
  scope: Scope,
  page: { skip: number; limit: number },
): Promise<DeliveryView[]> {
  const rows = await listRows(scope.sql, scope.actor.id, page);
  return rows.map((row) => toView(scope, row));
}

/** The deliveries to all people and to the installation's own webhook, newest first. */
export async function listAllDeliveries(
  scope: Scope,
  page: { status?: DeliveryView['status'] | undefined; skip: number; limit: number },
): Promise<ListedDelivery[]> {
  const rows = await listAllRows(scope.sql, page);
  return rows.map((row) => toView(scope, row));
}

/**
 * Sends one of the caller's notifications again, with the full number of attempts.
 *
 * @throws not_found, rate_limited, and bad_request if the notification is still pending
 */
export async function redeliver(scope: Scope, id: string): Promise<DeliveryView> {
  await scope.webhooks.redeliverLimit.take(scope.actor.id, 'Too many notifications were sent again.');
  const found = await transaction(scope, async (tx) => {
    const one = await redeliverRow(tx, id, scope.actor, nowSeconds());
    if (one?.row) await enqueueDeliveries(tx, [{ id, url: openUrl(scope.secret, id, one.row.url) }]);
    return one;
  });
  if (!found) throw new AppError('not_found', { detail: 'There is no such notification of yours.' });
  if (!found.row) throw new AppError('bad_request', { detail: 'This notification is still on its way.' });
  return toView(scope, found.row);
}
