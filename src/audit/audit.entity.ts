import { defineEntity, p } from '@mikro-orm/core';

/**
 * Who did what. The database refuses to change rows; only the sweep can delete them. No column is a foreign key: an entry stays
 * after its actor and its target are deleted.
 */
export const AuditEntry = defineEntity({
  name: 'AuditEntry',
  tableName: 'audit_entry',
  properties: {
    /** Version 7, so ids are in order of time. */
    id: p.uuid().primary(),
    /** Unix seconds. */
    created_at: p.integer().index('audit_entry_time'),
    /** Null if the actor has no account: a failed sign-in, or the shell. */
    actor_id: p.uuid().nullable(),
    actor_email: p.text().nullable(),
    /** `session`, `key`, `command`, or null for none. */
    credential: p.text().nullable(),
    credential_id: p.text().nullable(),
    ip: p.text().nullable(),
    action: p.text(),
    target_type: p.text().nullable(),
    target_id: p.text().nullable(),
    before: p.json<Record<string, unknown> | null>().nullable(),
    after: p.json<Record<string, unknown> | null>().nullable(),
  },
  indexes: [
    { name: 'audit_entry_actor', properties: ['actor_id', 'id'] },
    { name: 'audit_entry_action', properties: ['action', 'id'] },
    { name: 'audit_entry_target', properties: ['target_type', 'target_id', 'id'] },
  ],
});
