import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/users.entity.ts';

/** A key that programs use in a person's name. Times are Unix seconds. */
export const ApiKey = defineEntity({
  name: 'ApiKey',
  tableName: 'api_key',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade'),
    name: p.text(),
    /** SHA-256: a key has more bits than anybody can try, so nothing slower is needed. */
    hash: p.text().unique(),
    /** The last characters, by which a person tells one from another. */
    tail: p.text(),
    /** Path prefixes that it is bound to; null for none. */
    allowed_endpoints: p.json<string[] | null>().nullable(),
    expires_at: p.integer().nullable(),
    last_used_at: p.integer().nullable(),
    created_at: p.integer(),
  },
  uniques: [{ name: 'api_key_name', properties: ['user', 'name'] }],
});
