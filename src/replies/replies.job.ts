import { z } from 'zod';
import { defineJob } from '../jobs/kind.ts';

/** How long one attempt of a reply may take; then it ends with what was written. */
export const REPLY_LIMIT_MS = 15 * 60_000;
/** How long an attempt may then take to store its end. */
const END_MS = 60_000;

/**
 * Writes one reply. The row of the reply counts the attempts, because the job must be able to store a
 * failure.
 */
export const replyJob = defineJob({
  name: 'replies.answer',
  payload: z.object({ channel_id: z.uuid(), message_id: z.uuid() }),
  run: (parts, { channel_id, message_id }, signal) =>
    parts.replies.answer(parts, { channelId: channel_id, messageId: message_id }, signal),
  timeLimitMs: REPLY_LIMIT_MS + END_MS,
  attempts: 25,
  backOffSeconds: (attempts) => Math.min(30, 2 ** attempts),
  // Calls that wait for a place at their connection wait in `providers`, which shares the places between
  // people.
  concurrency: 200,
  laneConcurrency: 20,
});
