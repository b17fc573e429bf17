import { statement } from '../database/sql.ts';

/** Who pins and when are null for what is not pinned any more. The message keeps its `updated_at`: it says what it said. */
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
