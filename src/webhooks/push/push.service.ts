import { ECDH } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { AppError, invalid } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { nowSeconds } from '../../core/time.ts';
import { transaction } from '../../database/transaction.ts';
import {
  boundSubscriptions,
  deleteSubscription,
  listSubscriptions,
  type SubscriptionRow,
  storeSubscription,
} from './push.repository.ts';
import type { PushForm, PushSubscriptionView } from './push.schema.ts';
import type { WebPush } from './push.send.ts';
import { hashOf, sealTarget } from './push.target.ts';

/** The most browsers of one person; the oldest make room. */
const BROWSERS = 10;

function requirePush({ webhooks }: Pick<Scope, 'webhooks'>): WebPush {
  if (webhooks.push) return webhooks.push;
  throw new AppError('not_found', { detail: 'Web push is not set up on this server.' });
}

/** The key with which browsers subscribe. @throws not_found where web push is not set up */
export const publicKey = (scope: Scope): string => requirePush(scope).publicKey;

const toView = (
  { actor }: Scope,
  { id, session_id, origin, user_agent, created_at }: SubscriptionRow,
): PushSubscriptionView => ({
  id,
  url: `${origin}/…`,
  user_agent,
  created_at,
  is_current: session_id === actor.sessionId,
});

/** The browsers of the caller, the latest first. */
export async function listOwn(scope: Scope): Promise<PushSubscriptionView[]> {
  return (await listSubscriptions(scope.sql, scope.actor.id)).map((row) => toView(scope, row));
}

/**
 * Sends the notifications of the caller to a browser, until the session ends or the browser is taken away.
 *
 * @throws not_found where web push is not set up, session_required, validation, address_refused
 */
export async function subscribe(scope: Scope, form: PushForm): Promise<PushSubscriptionView> {
  requirePush(scope);
  const { actor, sql, secret, egress } = scope;
  const { sessionId } = actor;
  if (sessionId === null) throw new AppError('session_required');
  const { origin, protocol } = egress.check(form.endpoint);
  // RFC 8030, 8: over http, others could read who gets notifications and when, and use the signature again.
  if (protocol !== 'https:') {
    throw new AppError('address_refused', { detail: 'endpoint: a push service is called over https only.' });
  }
  requireKey(form.keys.p256dh);
  const { endpoint, keys } = form;
  const row = await transaction({ sql }, async (tx) => {
    const stored = await storeSubscription(tx, {
      id: uuidv7(),
      userId: actor.id,
      sessionId,
      endpointHash: hashOf(endpoint),
      origin,
      target: sealTarget(secret, { endpoint, keys }),
      now: nowSeconds(),
    });
    await boundSubscriptions(tx, actor.id, BROWSERS);
    return stored;
  });
  if (!row) throw new AppError('internal');
  return toView(scope, row);
}

/** The text of a key may be no point of the curve. */
function requireKey(p256dh: string): void {
  try {
    ECDH.convertKey(p256dh, 'prime256v1', 'base64url', 'base64url', 'uncompressed');
  } catch {
    throw invalid('keys.p256dh', 'must be a public key of P-256, 65 bytes as base64url');
  }
}

/** @throws not_found */
export async function unsubscribe({ sql, actor }: Scope, id: string): Promise<true> {
  if (await deleteSubscription(sql, id, actor.id)) return true;
  throw new AppError('not_found', { detail: 'There is no such subscription of yours.' });
}
