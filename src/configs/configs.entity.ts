import { defineEntity, p } from '@mikro-orm/core';

/** The configuration: one row, always with id 1. */
export const ConfigRow = defineEntity({
  name: 'ConfigRow',
  tableName: 'config',
  properties: {
    id: p.integer().primary().autoincrement(false),
    /** Grows by one with every change; processes compare it with what they hold. */
    revision: p.integer(),
    data: p.json<Record<string, unknown>>(),
    updated_at: p.integer(),
    updated_by: p.uuid().nullable(),
    /** Names this installation, so that several may share one Redis. */
    installation_id: p.uuid(),
  },
});
