import { defineEntity, p } from '@mikro-orm/core';
import { User } from '../../users/users.entity.ts';

/** One sign-in. Lucia reads and writes the rows through the adapter in `session.ts`. */
export const Session = defineEntity({
  name: 'Session',
  tableName: 'session',
  properties: {
    id: p.text().primary(),
    user: () => p.manyToOne(User).deleteRule('cascade').index(),
    expires_at: p.datetime().columnType('timestamptz').index(),
    created_at: p.datetime().columnType('timestamptz'),
    /** The last call with this session, to about half a minute. */
    last_seen_at: p.datetime().columnType('timestamptz').defaultRaw('now()'),
    ip: p.text(),
    user_agent: p.text(),
  },
});
