import { authorOf } from '../channelbase/channels.changes.ts';
import type { Actor, Parts, Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { transaction } from '../database/transaction.ts';
import { enqueueAll } from '../jobs/enqueue.ts';
import type { ModelCalls, ModelMention } from '../messages/messages.calls.ts';
import { postAsModels } from '../messages/messages.post.models.ts';
import { lockForPosts } from '../messages/messages.post.repository.ts';
import type { MessageView } from '../messages/messages.schema.ts';
import { findModels } from '../models/models.resolve.ts';
import { replyJob } from './replies.job.ts';
import { parseModelMentions } from './replies.mentions.ts';
import { insertReplies, listMissing } from './replies.repository.ts';

/** The maximum of models that one message calls. Further ones are named as unresolved. */
const MODELS = 10;
/** How long a reply may wait for its first attempt. */
export const WAIT_SECONDS = 3_600;

export const modelCalls: ModelCalls = {
  find: findMentioned,
  async begin(scope, message) {
    const models = resolvedIn(message.meta.mentions);
    const quoted = await findQuoted(scope, message, models);
    await beginReplies(scope, scope.actor, { message, models: [...quoted, ...models], depth: 1 });
  },
};

/** The model that wrote the quoted message, if the caller may use it and the text does not name it as well. */
async function findQuoted(
  scope: Scope,
  { reply_to_message: quoted }: MessageView,
  named: readonly ModelMention[],
): Promise<ModelMention[]> {
  const id = quoted?.meta.model_id;
  if (typeof id !== 'string' || named.some(({ model_id }) => model_id === id)) return [];
  const name = (await findModels(scope, [id])).get(id)?.name;
  return name === undefined ? [] : [{ model_id: id, model_name: name, resolved: true }];
}

/**
 * The models that a text mentions; null if there are none. One statement for all, and none for a text without
 * `@`. A name after a bare `@` that is no model may be a person, so only tokens are named as unresolved.
 */
export async function findMentioned(scope: Scope, content: string): Promise<ModelMention[] | null> {
  const called = parseModelMentions(content);
  if (called.length === 0) return null;
  const known = await findModels(scope, [...new Set(called.flatMap(({ spellings }) => spellings))]);
  const mentions = new Map<string, ModelMention>();
  let resolved = 0;
  for (const { spellings, isToken } of called) {
    const id = spellings.find((spelling) => known.has(spelling)) ?? (isToken ? spellings[0] : undefined);
    if (id === undefined || mentions.has(id)) continue;
    const name = known.get(id)?.name;
    const isCalled = name !== undefined && resolved < MODELS;
    if (isCalled) resolved += 1;
    mentions.set(
      id,
      isCalled ? { model_id: id, model_name: name, resolved: true } : { model_id: id, resolved: false },
    );
  }
  return mentions.size > 0 ? [...mentions.values()] : null;
}

/** The models in `meta.mentions` of a message that are called. */
export const resolvedIn = (mentions: unknown): ModelMention[] =>
  Array.isArray(mentions) ? (mentions as ModelMention[]).filter(({ resolved }) => resolved) : [];

interface Calling {
  /** The message that calls. */
  message: Pick<MessageView, 'id' | 'channel_id' | 'parent_id'>;
  models: readonly ModelMention[];
  depth: number;
}

/**
 * Posts the empty messages of models and begins their replies, in one transaction. Models that have begun to
 * reply to the message are left out. The replies run as the person.
 */
export async function beginReplies(
  parts: Pick<Parts, 'sql' | 'bus' | 'configs'>,
  person: Actor,
  { message, models, depth }: Calling,
): Promise<void> {
  if (models.length === 0) return;
  const { channel_id: channelId, id: calledBy } = message;
  const isInThread = parts.configs.current.channels.model_response_mode === 'thread';
  const parentId = message.parent_id ?? (isInThread ? calledBy : null);
  const publish = await transaction(parts, async (tx) => {
    await lockForPosts(tx, channelId);
    const modelIds = models.map(({ model_id }) => model_id);
    const missing = new Set(await listMissing(tx, { channelId, calledBy, modelIds }));
    const posts = models.flatMap(({ model_id, model_name = model_id }) =>
      missing.has(model_id)
        ? {
            id: channelId,
            model_id,
            user: authorOf(person),
            parent_id: parentId,
            reply_to_id: parentId === null ? calledBy : null,
            meta: { model_id, model_name, done: false },
          }
        : [],
    );
    if (posts.length === 0) return undefined;
    const posted = await postAsModels(parts, tx, posts);
    const replies = posts.flatMap(({ model_id }, n) => {
      const messageId = posted.ids[n];
      return messageId ? { message_id: messageId, model_id } : [];
    });
    const common = {
      channel_id: channelId,
      called_by: calledBy,
      user_id: person.id,
      key_id: person.keyId,
      depth,
      ends_by: nowSeconds() + WAIT_SECONDS,
    };
    await insertReplies(
      tx,
      replies.map((reply) => ({ ...common, ...reply })),
    );
    // The lane bounds how many replies one person has at a time, so that others do not wait for them.
    const jobs = replies.map(({ message_id }) => ({
      payload: { channel_id: channelId, message_id },
      id: message_id,
      lane: person.id,
    }));
    await enqueueAll(tx, replyJob, jobs);
    return posted.publish;
  });
  publish?.();
}
