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

/** What a provider vouches for, without its tokens: none is kept. */
export const ProviderSessionView = z
  .object({
    id: z.string(),
    user_id: z.string(),
    /** The issuer. */
    provider: z.string(),
    expires_at: z.int().nullable(),
    created_at: z.int(),
    updated_at: z.int(),
  })
  .meta({ id: 'ProviderSession', description: 'A sign-in through a provider; times are Unix seconds' });
export type ProviderSessionView = z.infer<typeof ProviderSessionView>;
