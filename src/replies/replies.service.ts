import { requireChannel } from '../channelbase/channels.access.service.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { noSuchMessage } from '../messages/messages.changes.ts';
import { VIEW_ONE } from '../messages/messages.repository.ts';
import { endReply } from './replies.end.ts';
import { requestStop } from './replies.repository.ts';

/**
 * Stops a reply, on whatever process it is written. Allowed for the person who called the model, for those
 * who manage the channel, and for administrators who may read it. A reply that is done stays as it is.
 *
 * @throws not_found for a message that no model wrote, forbidden
 */
export async function stopReply(scope: Scope, channelId: string, messageId: string): Promise<true> {
  const channel = await requireChannel(scope, channelId, 'read');
  const [row] = await scope.sql.rows(VIEW_ONE, { channelId, messageId });
  if (row?.author_type !== 'model' || row.is_deleted) throw noSuchMessage();
  const { id, role } = scope.actor;
  if (row.view.user_id !== id && !channel.is_manager && role !== 'admin') throw new AppError('forbidden');
  const reply = await requestStop(scope.sql, { channelId, messageId });
  if (!reply) return true;
  // A reply that waits for its first attempt is ended here; the attempt then finds it done.
  if (reply.tries === 0) await endReply(scope, reply, { content: null, meta: { stopped: true } });
  scope.bus.publish('reply.stop', { messageId });
  return true;
}
