import { z } from 'zod';
import { Habit } from './socketio.outlet.ts';

/** A client's position in a channel. Checked by hand: the client is not yet known, and a packet holds thousands of these. */
const isPosition = (entry: [string, unknown]): entry is [string, number] =>
  z.regexes.guid.test(entry[0]) && Number.isSafeInteger(entry[1]) && Number(entry[1]) >= 0;

/** The `auth` of a connection. Members of another form count as not sent. */
export const Handshake = z.object({
  token: z.string().optional().catch(undefined),
  /** Undefined where the client did not choose. */
  events: Habit.optional().catch(undefined),
  // Only the invalid position is dropped; the other channels keep theirs.
  last_event_ids: z
    .unknown()
    .optional()
    .transform((sent) => {
      const positions = Object.entries(sent ?? {}).filter(isPosition);
      return Object.fromEntries(positions.map(([id, position]) => [id.toLowerCase(), position]));
    }),
});

/** The payload of `user-join` and `join-channels`. */
export const Join = z.object({ auth: z.object({ token: z.string() }) });
