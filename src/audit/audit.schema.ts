import { z } from 'zod';
import { id, LIMITS, seconds } from '../core/wire.ts';

const values = z.record(z.string(), z.unknown()).nullable();

export const AuditView = z
  .object({
    id: z.string(),
    /** Unix seconds. */
    created_at: z.int(),
    /** Null if the actor has no account: a failed sign-in, or the shell. */
    actor_id: z.string().nullable(),
    actor_email: z.string().nullable(),
    credential: z.enum(['session', 'key', 'command']).nullable(),
    /** The session or the key. */
    credential_id: z.string().nullable(),
    ip: z.string().nullable(),
    action: z.string(),
    target_type: z.string().nullable(),
    target_id: z.string().nullable(),
    before: values,
    after: values,
  })
  .meta({ id: 'AuditEntry', description: 'Who did what to what; secrets are masked' });
export type AuditView = z.infer<typeof AuditView>;

const moment = () =>
  seconds()
    .min(0)
    .max(2 ** 31 - 1);
const word = () => z.string().regex(/^[a-z_]+(\.[a-z_]+)?$/, 'must be a word such as user.update, or user');

export const auditQuery = z.object({
  actor: id().optional(),
  action: word().optional(),
  target: z
    .string()
    .max(LIMITS.nameCharacters)
    .regex(/^[a-z_]+(:[^\0]+)?$/, 'must be a type such as user, or a type and an id such as user:0199…')
    .optional(),
  before: moment().optional(),
  after: moment().optional(),
  cursor: id().optional(),
  limit: z.int().min(1).max(LIMITS.pageSize).default(50),
});
export type AuditQuery = z.infer<typeof auditQuery>;
