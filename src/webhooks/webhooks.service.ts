import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { record } from '../audit/audit.record.ts';
import { difference } from '../audit/audit.values.ts';
import { noSuchChannel, requireChannel } from '../channelbase/channels.access.service.ts';
import { AppError } from '../core/errors.ts';
import { decodePicture, type Picture } from '../core/pictures.ts';
import type { Actor, Scope } from '../core/scope.ts';
import { seal, unseal } from '../core/secrets/seal.ts';
import { transaction } from '../database/transaction.ts';
import { postAsWebhook } from '../messages/messages.post.ts';
import {
  deleteRow,
  findRow,
  insertRow,
  listAllRows,
  listRows,
  lockRow,
  noteUse,
  readPicture,
  updateRow,
  type WebhookRow,
} from './webhooks.repository.ts';
import type { ListedWebhook, WebhookView } from './webhooks.schema.ts';

declare module '../core/secrets/keys.ts' {
  interface KeyPurposes {
    'webhook-token': true;
  }
}

const TOKEN_BYTES = 32;
const PER_CHANNEL = 20;

const noSuchWebhook = () =>
  new AppError('not_found', { detail: 'There is no such webhook in this channel.' });

/** The current time in nanoseconds, to whole microseconds. Text, because it exceeds 2^53. */
const nowNanoseconds = (): string => `${BigInt(Date.now()) * 1_000_000n}`;

const target = (id: string) => ({ type: 'webhook', id });

export const sealedForWebhook = (id: string) =>
  ({ purpose: 'webhook-token', place: `webhook:${id}` }) as const;

/** Null if the token was sealed with a secret that the server no longer has. */
function openToken({ secret }: Scope<Actor | null>, row: Pick<WebhookRow, 'id' | 'token'>): string | null {
  try {
    return unseal(secret, row.token, sealedForWebhook(row.id));
  } catch {
    return null;
  }
}

/** An unreadable token is shown as empty: the webhook has no usable address and must be created again. */
const toView = (scope: Scope, row: WebhookRow): WebhookView => ({
  ...row,
  token: openToken(scope, row) ?? '',
});

/** A channel's webhooks with their tokens, oldest first. @throws not_found, forbidden */
export async function listWebhooks(scope: Scope, channelId: string): Promise<WebhookView[]> {
  await requireChannel(scope, channelId, 'manage');
  const rows = await listRows(scope.sql, channelId);
  return rows.map((row) => toView(scope, row));
}

/** The webhooks of all channels, for administrators. */
export const listAllWebhooks = (
  scope: Scope,
  page: { skip: number; limit: number },
): Promise<ListedWebhook[]> => listAllRows(scope.sql, page);

export interface WebhookForm {
  name: string;
  /** A data URI. */
  profile_image_url?: string | null | undefined;
}

/**
 * Creates a webhook. @throws not_found, forbidden, and bad_request if the channel has its maximum of webhooks
 */
export async function createWebhook(
  scope: Scope,
  channelId: string,
  { name, profile_image_url }: WebhookForm,
): Promise<WebhookView> {
  await requireChannel(scope, channelId, 'manage');
  const id = uuidv7();
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const webhook = {
    id,
    channelId,
    userId: scope.actor.id,
    name,
    profileImageUrl: profile_image_url || null,
    sealedToken: seal(scope.secret, token, sealedForWebhook(id)),
    at: nowNanoseconds(),
  };
  const row = await transaction(scope, async (tx) => {
    const row = await insertRow(tx, webhook, PER_CHANNEL);
    if (row !== 'gone' && row !== 'full') {
      const after = { channel_id: channelId, name };
      await record(scope, tx, { action: 'webhook.create', target: target(id), after });
    }
    return row;
  });
  if (row === 'gone') throw noSuchChannel();
  if (row === 'full') {
    throw new AppError('bad_request', {
      detail: `A channel has at most ${PER_CHANNEL} webhooks. Delete one first.`,
    });
  }
  return { ...row, token };
}

/**
 * Changes the name, and the picture if one is sent. The address does not change. @throws not_found, forbidden
 */
export async function updateWebhook(
  scope: Scope,
  channelId: string,
  id: string,
  { name, profile_image_url: image }: WebhookForm,
): Promise<WebhookView> {
  await requireChannel(scope, channelId, 'manage');
  const profileImageUrl = image === '' ? null : image;
  const row = await transaction(scope, async (tx) => {
    const stored = await lockRow(tx, channelId, id);
    const row = await updateRow(tx, { channelId, id, name, profileImageUrl, at: nowNanoseconds() });
    if (!stored || !row) throw noSuchWebhook();
    const replaced = row.profile_image_url !== stored.profile_image_url;
    const changed = difference(
      { name: stored.name, picture_replaced: false },
      { name: row.name, picture_replaced: replaced },
    );
    if (changed) await record(scope, tx, { action: 'webhook.update', target: target(id), ...changed });
    return row;
  });
  scope.bus.publish('message.names', null);
  return toView(scope, row);
}

/** Deletes a webhook; its messages stay. @throws not_found, forbidden */
export async function deleteWebhook(scope: Scope, channelId: string, id: string): Promise<true> {
  await requireChannel(scope, channelId, 'manage');
  await transaction(scope, async (tx) => {
    const deleted = await deleteRow(tx, channelId, id);
    if (!deleted) throw noSuchWebhook();
    const before = { channel_id: channelId, name: deleted.name };
    await record(scope, tx, { action: 'webhook.delete', target: target(id), before });
  });
  scope.bus.publish('message.names', null);
  return true;
}

/**
 * Posts as a webhook. The address is the only credential: an unknown id and a wrong token get the same
 * answer.
 *
 * @throws channels_disabled, unauthenticated, rate_limited, and not_found if the channel was deleted
 */
export async function postByWebhook(
  scope: Scope<Actor | null>,
  { webhook_id, token, content }: { webhook_id: string; token: string; content: string },
): Promise<{ success: true; message_id: string }> {
  if (!scope.configs.current.channels.enable) throw new AppError('channels_disabled');
  const webhook = await findRow(scope.sql, webhook_id);
  const expected = webhook ? openToken(scope, webhook) : null;
  if (!isSame(token, expected ?? '') || expected === null || !webhook) {
    throw new AppError('unauthenticated', { detail: 'The address of the webhook is not valid.' });
  }
  // Counted after the token check, so that callers without the token cannot use up the webhook's limit.
  await scope.webhooks.postLimit.take(webhook.id, 'This webhook posts too often.');
  // Before the post: programs repeat a call that failed, and a failure after the post would double the message.
  await noteUse(scope.sql, webhook.id, nowNanoseconds());
  const message = await postAsWebhook(scope, webhook, { id: webhook.channel_id, content });
  return { success: true, message_id: message.id };
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Compares digests of equal length in constant time. */
const isSame = (given: string, expected: string): boolean => timingSafeEqual(digest(given), digest(expected));

/** The picture of a webhook, for readers of its channel; null stands for the common picture. */
export async function webhookPicture(scope: Scope, webhookId: string): Promise<Picture | null> {
  const uri = await readPicture(scope.sql, scope.actor, webhookId);
  return uri === null ? null : decodePicture(uri);
}
