import { defineEntity, p } from '@mikro-orm/core';

/** The configuration: one row, always with id 1. Secrets in `data` are sealed. */
export const ConfigRow = defineEntity({
  name: 'ConfigRow',
  tableName: 'config',
  properties: {
    id: p.integer().primary().autoincrement(false),
    /** Grows by one with every change; processes compare it with the revision that they hold. */
    revision: p.integer(),
    /** What administrators have set; the other settings follow the defaults of the running version. */
    data: p.json<Record<string, unknown>>(),
    /** When and by whom each setting of `data` was set: `{ [path]: { at, by } }`. */
    origins: p.json<Record<string, { at: number; by: string | null }>>().defaultRaw(`'{}'`),
    updated_at: p.integer(),
    updated_by: p.uuid().nullable(),
    /** Names this installation, so that several may share one Redis. */
    installation_id: p.uuid(),
    /** Sealed with the secret in use, so that a start with another secret is noticed. Null until a server has started. */
    secret_mark: p.text().nullable(),
  },
});

/** Each configuration that was in force, as it was stored; the newest is the row of `config`. */
export const ConfigHistory = defineEntity({
  name: 'ConfigHistory',
  tableName: 'config_history',
  properties: {
    id: p.uuid().primary(),
    revision: p.integer().unique(),
    data: p.json<Record<string, unknown>>(),
    /** `start`, `import`, `rollback` or `command`. */
    origin: p.text(),
    /** Dotted paths of the changed settings. */
    changed: p.json<string[]>(),
    created_at: p.integer(),
    /** The account that made the change. No foreign key, because the entry stays after the account is deleted. */
    created_by: p.uuid().nullable(),
  },
});
