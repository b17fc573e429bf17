import { requireChannel } from '../channelbase/channels.access.service.ts';
import type { Scope } from '../core/scope.ts';
import { noSuchMessage, recordIfChanged, Unchanged } from './messages.changes.ts';
import { VIEW_ONE } from './messages.repository.ts';
import type { MessageView } from './messages.schema.ts';
import { getMessage } from './messages.service.ts';
import { PIN } from './pins.repository.ts';

export interface PinInput {
  id: string;
  message_id: string;
  is_pinned: boolean;
}

/**
 * Pins a message, or removes the pin. If nothing changes, no event is sent, and a pinned message keeps its
 * first pin.
 *
 * @throws not_found, forbidden
 */
export async function pinMessage(scope: Scope, input: PinInput): Promise<MessageView> {
  const { id: channelId, message_id: messageId, is_pinned } = input;
  const channel = await requireChannel(scope, channelId, 'read');
  // A first check without the channel's lock: most calls that change nothing end here.
  const [row] = await scope.sql.rows(VIEW_ONE, { channelId, messageId });
  if (!row || row.is_deleted) throw noSuchMessage();
  if (row.view.is_pinned === is_pinned) return row.view;
  const recorded = await recordIfChanged(scope, channel, (log) =>
    log('message:update', messageId, async ({ sql, at, before }) => {
      const { view, is_deleted } = await before();
      if (is_deleted) throw noSuchMessage();
      if (view.is_pinned === is_pinned) throw new Unchanged();
      const pin = is_pinned ? { pinnedBy: scope.actor.id, pinnedAt: at } : { pinnedBy: null, pinnedAt: null };
      await sql.rows(PIN, { channelId, messageId, isPinned: is_pinned, ...pin });
    }),
  );
  // The logged message may be abridged.
  const isWhole = recorded && recorded.message.meta.abridged !== true;
  return isWhole ? recorded.message : getMessage(scope, channelId, messageId);
}
