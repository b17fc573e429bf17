import { statement } from '../database/sql.ts';

/**
 * `pinnedBy` and `pinnedAt` are null to remove the pin. `updated_at` stays, because the text does not change.
 */
export const PIN = statement<
  never,
  {
    channelId: string;
    messageId: string;
    isPinned: boolean;
    pinnedBy: string | null;
    pinnedAt: string | null;
  }
>(
  'message.pin',
  `update message set is_pinned = :isPinned, pinned_by = :pinnedBy, pinned_at = :pinnedAt::bigint where channel_id = :channelId and id = :messageId`,
);
