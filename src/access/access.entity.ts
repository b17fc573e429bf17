import { defineEntity, p } from '@mikro-orm/core';

/** One right of one principal on one resource. `principal_id` is `*` for everyone. */
export const AccessGrant = defineEntity({
  name: 'AccessGrant',
  tableName: 'access_grant',
  properties: {
    id: p.uuid().primary(),
    resource_type: p.text(),
    resource_id: p.text(),
    principal_type: p.text(),
    principal_id: p.text(),
    permission: p.text(),
    created_at: p.integer(),
  },
  uniques: [
    {
      name: 'access_grant_unique',
      properties: ['resource_type', 'resource_id', 'principal_type', 'principal_id', 'permission'],
    },
  ],
  // Every list looks up what a principal may use.
  indexes: [
    { name: 'access_grant_principal', properties: ['principal_type', 'principal_id', 'resource_type'] },
  ],
});
