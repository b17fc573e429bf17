import { requireChannel } from '../channelbase/channels.access.service.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { nowSeconds } from '../core/time.ts';
import { enqueueAll } from '../jobs/enqueue.ts';
import { EDIT, LINK_FILES, REWRITE_EDITED } from '../messages/messages.changes.repository.ts';
import { noSuchMessage, recordChanges } from '../messages/messages.changes.ts';
import type { MessageView } from '../messages/messages.schema.ts';
import { WAIT_SECONDS } from './replies.calls.ts';
import { replyJob } from './replies.job.ts';
import { restartReply } from './replies.repository.ts';

/**
 * Has a reply written again that failed or was stopped: its message is emptied, and filled anew. Allowed for the
 * person who called the model, because the model answers with the rights and limits of that person.
 *
 * @throws not_found for a message that no model wrote, forbidden, rate_limited, and bad_request for a reply that
 *   is still written or has succeeded
 */
export async function retryReply(scope: Scope, channelId: string, messageId: string): Promise<true> {
  const { actor } = scope;
  const channel = await requireChannel(scope, channelId, 'write');
  await scope.quotas.message(actor.id, 0);
  await recordChanges(scope, channel, (log) =>
    log(
      'message:update',
      messageId,
      async ({ sql, at, before }) => {
        const { view, author_type, is_deleted } = await before();
        if (author_type !== 'model' || is_deleted) throw noSuchMessage();
        if (view.user_id !== actor.id) throw new AppError('forbidden');
        refuseUnlessEnded(view);
        const endsBy = nowSeconds() + WAIT_SECONDS;
        const key = { channelId, messageId };
        if (!(await restartReply(sql, { ...key, keyId: actor.keyId, endsBy }))) throw noSuchMessage();
        const { model_id, model_name } = view.meta;
        await sql.rows(EDIT, {
          ...key,
          content: '',
          data: JSON.stringify({ files: [] }),
          meta: JSON.stringify({ model_id, model_name, done: false }),
          at,
        });
        await sql.rows(LINK_FILES, { ...key, files: [] });
        await sql.rows(REWRITE_EDITED, key);
        const payload = { channel_id: channelId, message_id: messageId };
        await enqueueAll(sql, replyJob, [{ payload, id: messageId, lane: actor.id }]);
      },
      { hasNewWords: true },
    ),
  );
  return true;
}

function refuseUnlessEnded({ meta }: Pick<MessageView, 'meta'>): void {
  if (meta.done === false) {
    throw new AppError('bad_request', { detail: 'The model still writes this message. Stop it first.' });
  }
  if (!meta.error && !meta.stopped) {
    throw new AppError('bad_request', {
      detail: 'Only a reply that failed or was stopped is written again.',
    });
  }
}
