import { AppError } from '../../core/errors.ts';
import type { Parts } from '../../core/scope.ts';
import type { EgressRequest } from '../../egress/egress.ts';
import { pushPayload } from '../push/push.payload.ts';
import { deleteSubscription } from '../push/push.repository.ts';
import { openTarget } from '../push/push.target.ts';
import { openUrl } from './deliveries.address.ts';
import { payloadFor } from './deliveries.payload.ts';
import type { DueDelivery } from './deliveries.repository.ts';
import { type AttemptResult, giveUp } from './deliveries.retries.ts';

export const ATTEMPT_MS = 10_000;
/** Only the status of an answer is used. */
const ANSWER_BYTES = 16_384;

interface Request {
  address: string;
  headers: Record<string, string>;
  body: NonNullable<EgressRequest['body']>;
}

/** Makes one attempt of a delivery. @param signal fires when the process is stopping */
export async function attempt(
  parts: Parts,
  delivery: DueDelivery,
  signal: AbortSignal,
): Promise<AttemptResult | 'interrupted'> {
  if (delivery.message_id !== null && !delivery.message) {
    return giveUp('The message was deleted, or may not be read any more.');
  }
  try {
    const request = await (delivery.kind === 'push' ? toBrowser : toWebhook)(parts, delivery);
    if (!('body' in request)) return request;
    const result = await send(parts, delivery.id, request, signal);
    // The push service says that the browser is not subscribed any more (RFC 8030, 7.3).
    if (delivery.browser && (result.status === 404 || result.status === 410)) {
      await deleteSubscription(parts.sql, delivery.browser.id, null);
    }
    return result;
  } catch (error) {
    if (signal.aborted) return 'interrupted';
    if (!(error instanceof AppError)) throw error;
    return error.code === 'address_refused' ? giveUp(error.message) : { error: error.message };
  }
}

async function toWebhook(
  { secret, configs, egress }: Parts,
  { id, user_id, message, payload, url: sealed }: DueDelivery,
): Promise<Request | AttemptResult> {
  if (user_id !== null && !configs.current.ui.enable_user_webhooks) {
    return giveUp('Notifications to webhooks are switched off.');
  }
  const address = openUrl(secret, id, sealed);
  const url = egress.check(address);
  const body = JSON.stringify(message ? payloadFor(url, message, configs.current.webui.url) : payload);
  return { address, headers: { 'content-type': 'application/json' }, body };
}

async function toBrowser(
  { secret, webhooks: { push } }: Parts,
  { browser, message, message_id: messageId }: DueDelivery,
): Promise<Request | AttemptResult> {
  if (!push) return giveUp('Web push is not set up on this server.');
  const target = browser && openTarget(secret, browser.target, browser.endpoint_hash);
  if (!target || !message || messageId === null) return giveUp('The browser is not subscribed any more.');
  const payload = pushPayload(messageId, message);
  // A repeated delivery replaces the first one; a topic has at most 32 characters.
  const { headers, body } = await push.request(target, payload, messageId.replaceAll('-', ''));
  return { address: target.endpoint, headers, body };
}

async function send(
  { egress }: Parts,
  id: string,
  { address, headers, body }: Request,
  signal: AbortSignal,
): Promise<{ status: number; retryAfter: string | null }> {
  const answer = await egress.fetch(address, {
    method: 'POST',
    // The id lets a target recognise a repeated delivery whose answer was lost.
    headers: { ...headers, 'x-parley-delivery': id },
    body,
    maxBytes: ANSWER_BYTES,
    excess: 'cut',
    timeoutMs: ATTEMPT_MS,
    maxRedirects: 0,
    signal,
  });
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
}
