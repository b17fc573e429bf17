import { z } from 'zod';

export const SessionView = z
  .object({
    id: z.string(),
    /** The User-Agent of the program. */
    user_agent: z.string(),
    /** The network address at which the session began. */
    ip: z.string(),
    created_at: z.int(),
    /** To about half a minute. */
    last_seen_at: z.int(),
    /** Null if the session does not expire. */
    expires_at: z.int().nullable(),
    /** Whether this call used the session. */
    is_current: z.boolean(),
  })
  .meta({ id: 'Session', description: 'One sign-in; times are Unix seconds' });
export type SessionView = z.infer<typeof SessionView>;

/** A session at a provider, without the provider's tokens: they are not stored. */
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
