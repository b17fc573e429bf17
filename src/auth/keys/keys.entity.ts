import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/users.entity.ts';

/** A key with which programs act as a user. Times are Unix seconds. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    name: p.text(),
    /** SHA-256. A key has too many bits to guess, so a slower hash is not needed. */
    hash: p.text().unique(),
    /** The last characters, which help the owner to recognise the key. */
    tail: p.text(),
    /** Path prefixes that the key may reach; null for no restriction. */
    allowed_endpoints: p.json<string[] | null>().nullable(),
    expires_at: p.integer().nullable(),
    last_used_at: p.integer().nullable(),
    created_at: p.integer(),
  },
  uniques: [{ name: 'api_key_name', properties: ['user', 'name'] }],
});
