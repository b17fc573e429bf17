import { z } from 'zod';

export const SessionView = z
  .object({
    id: z.string(),
    /** The program, as it calls itself. */
    user_agent: z.string(),
    /** The network address that it was begun from. */
    ip: z.string(),
    created_at: z.int(),
    /** To about half a minute. */
    last_seen_at: z.int(),
    /** Null for one that does not end by itself. */
    expires_at: z.int().nullable(),
    /** Whether this call came with it. */
    is_current: z.boolean(),
  })
  .meta({ id: 'Session', description: 'One sign-in; times are Unix seconds' });
export type SessionView = z.infer<typeof SessionView>;
