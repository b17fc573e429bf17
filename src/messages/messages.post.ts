import { v7 as uuidv7 } from 'uuid';
import { noSuchChannel } from '../channelbase/channels.access.service.ts';
import type { Author } from '../channelbase/channels.brief.schema.ts';
import { authorOf } from '../channelbase/channels.changes.ts';
import { AppError } from '../core/errors.ts';
import type { Parts, Scope } from '../core/scope.ts';
import { keepSweeping, removeAll } from '../core/sweep.ts';
import { traceStep } from '../core/tracing.ts';
import type { Sql } from '../database/sql.ts';
import { isDangling, type Refusal } from '../database/violations.ts';
import { attachmentsOf } from '../files/attachments.ts';
import { EVERYONE } from '../mentions/mentions.repository.ts';
import { findMentions } from '../mentions/mentions.service.ts';
import { BY_USER } from './messages.author.ts';
import './messages.calls.ts';
import { publishEvent } from './messages.changes.ts';
import { forgetTempIds, type NewPost, type Posted, readByTempId } from './messages.post.repository.ts';
import type { PostedMessage } from './messages.schema.ts';

declare module '../events/bus.ts' {
  interface BusTopics {
    /**
     * A message was posted in this process. Announced once, after it was stored, without delay for the
     * answer; lost if the process ends. Work that must survive reads the event log.
     */
    'message.posted': {
      channelId: string;
      messageId: string;
      /** Null if a program posted it. */
      authorId: string | null;
      mentionedUserIds: readonly string[];
      /** Whether it mentions all readers of the channel. */
      everyone: boolean;
      content: string;
    };
  }
}

export interface Post {
  id: string;
  content: string;
  reply_to_id?: string | null | undefined;
  parent_id?: string | null | undefined;
  data?: Record<string, unknown> | null | undefined;
  meta?: Record<string, unknown> | null | undefined;
  temp_id?: string | null | undefined;
}

/**
 * Posts a message into the main line, or into the thread of `parent_id`. A post with the same `temp_id` by
 * the same author is stored once: a repeated call returns that message in its current state.
 *
 * @throws not_found, forbidden, rate_limited, quota_exceeded, and bad_request if it refers to a message that
 *   the channel does not have
 */
export async function postMessage(scope: Scope, post: Post): Promise<PostedMessage> {
  const { actor } = scope;
  await scope.quotas.message(actor.id, bytesOf(post));
  const files = await attachmentsOf(scope, post.data);
  const [mentions, models] = await Promise.all([
    findMentions(scope.sql, post.id, post.content, actor.id),
    scope.modelCalls.find(scope, post.content),
  ]);
  const meta = models ? { ...post.meta, mentions: models } : post.meta;
  const message = await store(scope, {
    view: viewOf({ ...post, meta }, actor.id, authorOf(actor)),
    is_admin: actor.role === 'admin',
    author: BY_USER,
    mentions,
    files,
  });
  await scope.modelCalls.begin(scope, message);
  return message;
}

/** An incoming webhook as the author; `user_id` is its creator. */
export interface PostingWebhook {
  id: string;
  name: string;
  user_id: string;
}

/**
 * Posts into the main line of a channel as a webhook. The caller has checked the address and the channel of
 * the webhook.
 *
 * @throws not_found if the channel was deleted
 */
export async function postAsWebhook(
  parts: Pick<Parts, 'sql' | 'bus' | 'posts' | 'quotas'>,
  webhook: PostingWebhook,
  post: { id: string; content: string },
): Promise<PostedMessage> {
  await parts.quotas.message(webhook.user_id, bytesOf(post));
  const author = { id: webhook.id, name: webhook.name, role: 'webhook' };
  const meta = { webhook: { id: webhook.id } };
  return store(parts, {
    view: viewOf({ ...post, meta }, webhook.user_id, author),
    is_admin: false,
    author: { type: 'webhook', id: webhook.id },
    mentions: await findMentions(parts.sql, post.id, post.content, null),
    files: [],
  });
}

/** The approximate size of a message's content, data and meta, in bytes. */
export const bytesOf = ({ content, data, meta }: Pick<Post, 'content' | 'data' | 'meta'>): number =>
  Buffer.byteLength(content) +
  [data, meta].reduce((sum, form) => sum + (form ? JSON.stringify(form).length : 0), 0);

/** Null means not sent: the result is an empty array. */
const filesOf = (data: Post['data']): unknown[] => (Array.isArray(data?.files) ? data.files : []);

/** The form of a new message. */
export const viewOf = (post: Post, userId: string, author: Author): NewPost['view'] => ({
  id: uuidv7(),
  user_id: userId,
  channel_id: post.id,
  content: post.content,
  reply_to_id: post.reply_to_id ?? null,
  parent_id: post.parent_id ?? null,
  is_pinned: false,
  pinned_by: null,
  pinned_at: null,
  data: { ...post.data, files: filesOf(post.data) },
  meta: post.meta ?? {},
  user: author,
  reactions: [],
  reply_count: 0,
  latest_reply_at: null,
  reply_to_message: null,
  // Empty means no id.
  temp_id: post.temp_id || null,
});

async function store(parts: Pick<Parts, 'sql' | 'bus' | 'posts'>, post: NewPost): Promise<PostedMessage> {
  const { view } = post;
  // Posts of many callers share a statement: the trace of each shows its own wait.
  const result = await traceStep(
    () => ({ name: 'posts.add' }),
    () => parts.posts.add(post),
  ).catch(refuseDangling);
  switch (result.outcome) {
    case 'posted': {
      const message = messageOf(view, result);
      tell(parts, post, message, result);
      return message;
    }
    case 'repeated':
      // The message was published the first time. If it was deleted just now, the post is stored again.
      return (await repeated(parts.sql, view)) ?? store(parts, post);
    case 'forbidden':
      throw new AppError('forbidden');
    case 'no_parent':
      throw new AppError('bad_request', { detail: 'parent_id: there is no such message in this channel.' });
    case 'no_quoted':
      throw new AppError('bad_request', { detail: 'reply_to_id: there is no such message in this channel.' });
    default:
      throw noSuchChannel();
  }
}

/** A message after it was stored. */
export const messageOf = (view: NewPost['view'], { at, root_id, quoted }: Posted): PostedMessage => ({
  ...view,
  parent_id: root_id,
  reply_to_message: quoted,
  created_at: Number(at),
  updated_at: Number(at),
});

async function repeated(sql: Sql, view: NewPost['view']): Promise<PostedMessage | undefined> {
  const { channel_id, user_id, temp_id } = view;
  if (temp_id === null) return undefined;
  const message = await readByTempId(sql, channel_id, user_id, temp_id);
  return message && { ...message, temp_id };
}

/** Publishes a logged message, after its commit. */
export function tell(
  { bus }: Pick<Parts, 'bus'>,
  { author, mentions }: NewPost,
  message: PostedMessage,
  { event_id, at, parent, channel }: Posted,
): void {
  const { id, channel_id, user_id, user, content } = message;
  const envelope = { channel_id, at, user: user as Author, channel };
  publishEvent({ bus }, { ...envelope, event_id, type: 'message', message });
  if (parent)
    publishEvent({ bus }, { ...envelope, event_id: event_id + 1, type: 'message:reply', message: parent });
  setImmediate(() =>
    bus.announce('message.posted', {
      channelId: channel_id,
      messageId: id,
      authorId: author.type === 'user' ? user_id : null,
      mentionedUserIds: mentions.filter((id) => id !== EVERYONE),
      everyone: mentions.includes(EVERYONE),
      content,
    }),
  );
}

/** A referenced row was deleted between the check and the write. */
function refuseDangling(error: Refusal): never {
  if (!isDangling(error)) throw error;
  if (error.table === 'channel_reader') throw new AppError('unauthenticated', { cause: error });
  throw new AppError('bad_request', {
    detail: 'parent_id, reply_to_id or a file: it has just been deleted.',
    cause: error,
  });
}

/** How long a `temp_id` is kept. */
const TEMP_ID_SECONDS = 24 * 60 * 60;
const SWEEP_MS = 10 * 60_000;

/** Deletes the clients' own ids of messages after a day. Runs now and every ten minutes. */
export const forgetOldTempIds = (sql: Sql, onError: (error: unknown) => void) =>
  keepSweeping(
    SWEEP_MS,
    (signal) => removeAll((most) => forgetTempIds(sql, TEMP_ID_SECONDS, most), signal),
    onError,
  );
