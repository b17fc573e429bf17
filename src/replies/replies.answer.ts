import { AppError } from '../core/errors.ts';
import { outageIn } from '../core/outage.ts';
import type { Parts } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { attachmentsOf } from '../files/attachments.ts';
import type { ModelMention } from '../messages/messages.calls.ts';
import { VIEW_ONE } from '../messages/messages.repository.ts';
import type { MessageView } from '../messages/messages.schema.ts';
import { ProviderFailure } from '../providers/providers.failures.ts';
import { lengthOf } from './growing/growing.calls.ts';
import { pruneQuestions } from './questions/questions.repository.ts';
import { Attempt, type Written } from './replies.attempt.ts';
import { beginReplies, findMentioned, resolvedIn } from './replies.calls.ts';
import { actorOf, beyondOutage, endReply, failureMeta, type ReplyEnd } from './replies.end.ts';
import { REPLY_LIMIT_MS } from './replies.job.ts';
import { claimReply, listOverdue, type OpenReply, type ReplyKey, readEnded } from './replies.repository.ts';
import type { RunningReplies } from './replies.running.ts';

/** How often a reply is begun that shows nothing, because a process ends each time. */
const ATTEMPTS = 5;
/** The time for the end of an attempt, beyond its limit. */
const GRACE_SECONDS = 120;
const FILES = 20;
/** What the items of files take in `data` at most. */
const FILE_CHARACTERS = 96 * 1024;

/**
 * Writes a reply, or continues after an attempt that ended with its process: a reply that has shown text or
 * called a tool is marked as failed, and any other is begun again.
 *
 * @param signal fires when the server stops
 * @throws the reason of the signal, if another process should begin the reply again
 */
export async function answer(
  parts: Parts,
  running: RunningReplies,
  key: ReplyKey,
  signal: AbortSignal,
): Promise<void> {
  const endsBy = nowSeconds() + REPLY_LIMIT_MS / 1_000 + GRACE_SECONDS;
  const reply = await claimReply(parts.sql, key, endsBy);
  if (!reply) return continueChain(parts, key);
  const early = endOfEarlier(reply);
  if (early) {
    await finish(parts, reply, early, null);
    return;
  }
  const attempt = new Attempt(parts, reply);
  const remove = running.add(attempt);
  const written = await attempt.run(signal).finally(remove);
  if (written.cut === 'dropped') return;
  if (written.cut === 'interrupted' && written.growing.isEmpty) throw signal.reason;
  const end = await beyondOutage(() => endOf(parts, reply, written));
  const message = await finish(parts, reply, end, written).catch((error: unknown) => {
    if (outageIn(error) !== undefined) throw error;
    // The model is not asked again for an end that cannot be stored.
    parts.log.error({ err: error, message: key.messageId }, 'The end of a reply could not be stored.');
    const failure = failureMeta(new AppError('internal'));
    return finish(parts, reply, { content: null, meta: failure }, written);
  });
  if (message) await callNext(parts, reply, message);
}

/** Calls the models that the text of an ended reply calls. Models that have begun to reply are left out. */
async function callNext(parts: Parts, reply: OpenReply, message: MessageView): Promise<void> {
  const models = resolvedIn(message.meta.mentions);
  await beginReplies(parts, actorOf(reply), { message, models, depth: reply.depth + 1 });
}

/** The process that ended the reply may have been killed before it called the next models. */
async function continueChain(parts: Parts, key: ReplyKey): Promise<void> {
  const reply = await readEnded(parts.sql, key);
  const [row] = reply?.user_name ? await parts.sql.rows(VIEW_ONE, { ...key }) : [];
  if (reply && row) await callNext(parts, reply, row.view);
}

/** How a reply ends that must not be begun again; undefined for any other. */
function endOfEarlier({ stop_requested, has_begun, tries }: OpenReply): ReplyEnd | undefined {
  if (stop_requested) return { content: null, meta: { stopped: true } };
  if (has_begun || tries > ATTEMPTS) {
    return { content: null, meta: failureMeta(new AppError('reply_interrupted')) };
  }
  return undefined;
}

async function endOf(parts: Parts, reply: OpenReply, written: Written): Promise<ReplyEnd> {
  const { growing, context, end } = written;
  const content = growing.text.text;
  const common = {
    ...(context?.leftOut && { context: context.leftOut }),
    ...(end && {
      usage: end.usage,
      finish_reason: end.finish_reason,
      first_token_ms: end.first_token_ms === null ? null : Math.round(end.first_token_ms),
      total_ms: Math.round(end.total_ms),
    }),
    // A model that cannot call functions was not offered its tools.
    ...(end?.tools_offered === false && { tools_offered: false }),
  };
  const kept = { content, data: growing.data, ...(await filesOf(written)) };
  if (written.cut === 'stopped') return { ...kept, meta: { ...common, stopped: true } };
  const failure = failureOf(written);
  if (failure) return { ...kept, meta: { ...common, ...failureMeta(failure) } };
  const mentions = await mentionsIn(parts, reply, written);
  return { ...kept, meta: { ...common, ...(mentions && { mentions }) } };
}

function failureOf({ cut, failure, growing, end }: Written): AppError | null {
  if (cut === 'interrupted') return new AppError('reply_interrupted');
  if (failure) return failure;
  if (!end) return new AppError('internal');
  const isEmpty = growing.text.text.trim() === '' && growing.calls.every(({ files }) => files.length === 0);
  return isEmpty ? new AppError('reply_empty') : null;
}

/**
 * The files that tools made, as items of the message, as many as it holds. A file that the person may not
 * attach is left out.
 */
async function filesOf({ growing, scope }: Written): Promise<Pick<ReplyEnd, 'files'>> {
  let left = FILE_CHARACTERS;
  const items = growing.calls
    .flatMap(({ files }) => files)
    .slice(-FILES)
    .filter((item) => {
      left -= lengthOf(item);
      return left >= 0;
    });
  if (items.length === 0 || !scope) return {};
  const checked = await Promise.all(
    items.map(async (item) => {
      const ids = await attachmentsOf(scope, { files: [item] }).catch(refusedOnly);
      return ids ? { item, ids } : undefined;
    }),
  );
  const allowed = checked.filter((one) => one !== undefined);
  return { files: { items: allowed.map(({ item }) => item), ids: allowed.flatMap(({ ids }) => ids) } };
}

/** @throws any other error, such as an outage */
function refusedOnly(error: unknown): undefined {
  if (!(error instanceof AppError)) throw error;
}

/** The other models that the reply calls, within the chain that a person began. */
async function mentionsIn(
  { configs }: Pick<Parts, 'configs'>,
  { depth, model_id }: OpenReply,
  { scope, growing }: Written,
): Promise<ModelMention[] | null> {
  const { model_chain = 1 } = configs.current.channels;
  if (!scope || depth >= model_chain) return null;
  const mentions = await findMentioned(scope, growing.text.text);
  const others = mentions?.filter((mention) => mention.model_id !== model_id) ?? [];
  return others.length > 0 ? others : null;
}

async function finish(parts: Parts, reply: OpenReply, end: ReplyEnd, written: Written | null) {
  const connection = connectionOf(written);
  const by = { kind: written?.model?.provider.owned_by ?? '', connection };
  const message = await endReply(parts, reply, end, by);
  const { error } = end.meta;
  if (message && error) {
    const { model_id: model, message_id } = reply;
    parts.log.warn(
      { model, connection, message: message_id, code: error.code, err: written?.failure },
      'A reply of a model failed.',
    );
  }
  return message;
}

/** The name of the connection that answered or failed last; empty if none did. */
const connectionOf = (written: Written | null): string =>
  (written?.failure instanceof ProviderFailure && written.failure.connection) || written?.connection || '';

/** Ends the replies that should have ended, so that none stays open whatever happened to its job. */
export async function endOverdue(parts: Pick<Parts, 'sql' | 'bus' | 'log'>): Promise<void> {
  await pruneQuestions(parts.sql, nowSeconds() - GRACE_SECONDS);
  for (const reply of await listOverdue(parts.sql, nowSeconds())) {
    const meta = failureMeta(new AppError('reply_timeout'));
    if (await endReply(parts, reply, { content: null, meta })) {
      parts.log.warn(
        { model: reply.model_id, message: reply.message_id },
        'A reply of a model did not end in time.',
      );
    }
  }
}
