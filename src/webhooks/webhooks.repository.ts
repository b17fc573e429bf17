import { CAN_READ } from '../channelbase/channels.policy.ts';
import { type Caller, type CallerParams, callerOf } from '../core/caller.ts';
import { type Sql, statement } from '../database/sql.ts';
import type { ListedWebhook, WebhookView } from './webhooks.schema.ts';

/** A stored webhook; its token is sealed. */
export type WebhookRow = WebhookView;

const FIELDS = `w.id, w.channel_id, w.user_id, w.name, w.profile_image_url, w.token, w.last_used_at::float8 as last_used_at,
  w.created_at::float8 as created_at, w.updated_at::float8 as updated_at`;

const LIST = statement<WebhookRow, { channelId: string }>(
  'webhook.list',
  `select ${FIELDS} from channel_webhook w where w.channel_id = :channelId order by w.created_at, w.id`,
);

export const listRows = (sql: Sql, channelId: string): Promise<WebhookRow[]> => sql.rows(LIST, { channelId });

const LIST_ALL = statement<ListedWebhook, { skip: number; limit: number }>(
  'webhook.list_all',
  `select w.id, w.channel_id, w.user_id, w.name, w.last_used_at::float8 as last_used_at, w.created_at::float8 as created_at,
          w.updated_at::float8 as updated_at, json_build_object('id', c.id, 'name', c.name, 'type', c.type) as channel,
          case when u.id is not null then json_build_object('id', u.id, 'name', u.name) end as user
     from channel_webhook w join channel c on c.id = w.channel_id left join users u on u.id = w.user_id
    order by w.created_at desc, w.id limit :limit offset :skip`,
);

/** The webhooks of all channels, without tokens and pictures; the newest first. */
export const listAllRows = (
  sql: Sql,
  { skip, limit }: { skip: number; limit: number },
): Promise<ListedWebhook[]> => sql.rows(LIST_ALL, { skip, limit });

const LOCK = statement<never, { channelId: string }>(
  'webhook.lock',
  'select from channel where id = :channelId for no key update',
);
const COUNT = statement<{ count: number }, { channelId: string }>(
  'webhook.count',
  'select count(*)::int as count from channel_webhook where channel_id = :channelId',
);
const INSERT = statement<
  WebhookRow,
  {
    id: string;
    channelId: string;
    userId: string;
    name: string;
    profileImageUrl: string | null;
    sealedToken: string;
    at: string;
  }
>(
  'webhook.insert',
  `insert into channel_webhook as w (id, channel_id, user_id, name, profile_image_url, token, created_at, updated_at)
   values (:id, :channelId, :userId, :name, :profileImageUrl, :sealedToken, :at, :at) returning ${FIELDS}`,
);

export interface NewWebhook {
  id: string;
  channelId: string;
  userId: string;
  name: string;
  profileImageUrl: string | null;
  sealedToken: string;
  /** Nanoseconds, as text. */
  at: string;
}

/**
 * Stores a webhook in the caller's transaction, unless the channel already has `max` webhooks.
 *
 * @returns `'gone'` if the channel does not exist, `'full'` if it has `max` webhooks
 */
export async function insertRow(
  sql: Sql,
  input: NewWebhook,
  max: number,
): Promise<WebhookRow | 'gone' | 'full'> {
  const { id, channelId, userId, name, profileImageUrl, sealedToken, at } = input;
  // Counted under the lock of the channel, so that concurrent inserts respect the limit.
  if ((await sql.rows(LOCK, { channelId })).length === 0) return 'gone';
  const [counted] = await sql.rows(COUNT, { channelId });
  if ((counted?.count ?? 0) >= max) return 'full';
  const [row] = await sql.rows(INSERT, { id, channelId, userId, name, profileImageUrl, sealedToken, at });
  return row ?? 'gone';
}

const LOCK_ONE = statement<Pick<WebhookRow, 'name' | 'profile_image_url'>, { channelId: string; id: string }>(
  'webhook.lock_one',
  'select name, profile_image_url from channel_webhook where channel_id = :channelId and id = :id for update',
);

/**
 * Reads and locks a webhook until the caller's transaction ends. @returns undefined if the channel has no
 * such webhook
 */
export async function lockRow(
  sql: Sql,
  channelId: string,
  id: string,
): Promise<Pick<WebhookRow, 'name' | 'profile_image_url'> | undefined> {
  const [row] = await sql.rows(LOCK_ONE, { channelId, id });
  return row;
}

const UPDATE = statement<
  WebhookRow,
  { channelId: string; id: string; name: string; hasImage: boolean; image: string | null; at: string }
>(
  'webhook.update',
  `update channel_webhook w
      set name = :name, profile_image_url = case when :hasImage then :image else w.profile_image_url end, updated_at = :at
    where w.channel_id = :channelId and w.id = :id returning ${FIELDS}`,
);

export interface WebhookChange {
  channelId: string;
  id: string;
  name: string;
  /** Undefined keeps the picture. */
  profileImageUrl: string | null | undefined;
  /** Nanoseconds, as text. */
  at: string;
}

/** @returns undefined if the channel has no such webhook */
export async function updateRow(sql: Sql, change: WebhookChange): Promise<WebhookRow | undefined> {
  const { channelId, id, name, profileImageUrl, at } = change;
  const image = { hasImage: profileImageUrl !== undefined, image: profileImageUrl ?? null };
  const [row] = await sql.rows(UPDATE, { channelId, id, name, ...image, at });
  return row;
}

const DELETE = statement<{ name: string }, { channelId: string; id: string }>(
  'webhook.delete',
  'delete from channel_webhook where channel_id = :channelId and id = :id returning name',
);

/** @returns the name of the deleted webhook; undefined if the channel has no such webhook */
export async function deleteRow(
  sql: Sql,
  channelId: string,
  id: string,
): Promise<{ name: string } | undefined> {
  const [row] = await sql.rows(DELETE, { channelId, id });
  return row;
}

type PostingRow = Pick<WebhookRow, 'id' | 'channel_id' | 'user_id' | 'name' | 'token'>;

const FIND = statement<PostingRow, { id: string }>(
  'webhook.find',
  'select id, channel_id, user_id, name, token from channel_webhook where id = :id',
);

export async function findRow(sql: Sql, id: string): Promise<PostingRow | undefined> {
  const [row] = await sql.rows(FIND, { id });
  return row;
}

const USED = statement<never, { id: string; at: string }>(
  'webhook.used',
  'update channel_webhook set last_used_at = :at where id = :id',
);

/** Stores the last use of a webhook; the time is nanoseconds, as text. */
export async function noteUse(sql: Sql, id: string, at: string): Promise<void> {
  await sql.rows(USED, { id, at });
}

const PICTURE = statement<{ profile_image_url: string | null }, CallerParams & { webhookId: string }>(
  'webhook.picture',
  `select w.profile_image_url from channel_webhook w join channel c on c.id = w.channel_id
    where w.id = :webhookId and ${CAN_READ}`,
);

/** The picture of a webhook as a data URI; null if it has none, or the caller may not read its channel. */
export async function readPicture(sql: Sql, caller: Caller, webhookId: string): Promise<string | null> {
  const [row] = await sql.rows(PICTURE, { ...callerOf(caller), webhookId });
  return row?.profile_image_url ?? null;
}
