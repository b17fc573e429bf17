import { z } from 'zod';

/** One thing that a sign-in through the directory does, and how it went. */
export const LdapStep = z.object({
  step: z.enum(['connect', 'search', 'entry', 'address', 'groups', 'role', 'account']),
  ok: z.boolean(),
  /** What was done or found, or why it failed, for an administrator. */
  detail: z.string(),
});
export type LdapStep = z.infer<typeof LdapStep>;

export const LdapTest = z
  .object({
    /** Whether somebody of that name could sign in with the right password. */
    ok: z.boolean(),
    server: z.string(),
    /** The filter that was sent. */
    filter: z.string(),
    dn: z.string().nullable(),
    steps: z.array(LdapStep),
  })
  .meta({ id: 'LdapTest' });
export type LdapTest = z.infer<typeof LdapTest>;
