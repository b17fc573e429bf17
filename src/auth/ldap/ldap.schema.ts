import { z } from 'zod';

/** One step of a sign-in through the directory, and its result. */
export const LdapStep = z.object({
  step: z.enum(['connect', 'search', 'entry', 'address', 'groups', 'role', 'account']),
  ok: z.boolean(),
  /** The action or the finding, or the cause of a failure, for administrators. */
  detail: z.string(),
});
export type LdapStep = z.infer<typeof LdapStep>;

export const LdapTest = z
  .object({
    /** Whether a user of that name could sign in with the right password. */
    ok: z.boolean(),
    server: z.string(),
    /** The filter that was sent. */
    filter: z.string(),
    dn: z.string().nullable(),
    steps: z.array(LdapStep),
  })
  .meta({ id: 'LdapTest' });
export type LdapTest = z.infer<typeof LdapTest>;
