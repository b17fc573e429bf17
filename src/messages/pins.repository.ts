import { statement } from '../database/sql.ts';

/** Who pins and when are null for what is not pinned any more. The message keeps its `updated_at`: it says what it said. */
export const PIN = statement(
  'message.pin',
  `update message set is_pinned = $3, pinned_by = $4, pinned_at = $5::bigint where channel_id = $1 and id = $2`,
);
