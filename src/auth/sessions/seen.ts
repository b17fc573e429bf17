import type { Actor } from '../../core/scope.ts';
import { collectSeen } from '../../core/seen.ts';
import type { Sql } from '../../database/sql.ts';
import { storeLastSeen } from '../../users/users.repository.ts';
import { storeKeysUsed } from '../keys/keys.repository.ts';
import { storeSessionsSeen } from './session.ts';

/** Records the last activity of users, sessions and keys, to about half a minute. */
export function trackSeen(sql: Sql, onError: (error: unknown) => void) {
  const users = collectSeen((ids, at) => storeLastSeen(sql, ids, at), onError);
  const sessions = collectSeen((ids, at) => storeSessionsSeen(sql, ids, at), onError);
  const keys = collectSeen((ids, at) => storeKeysUsed(sql, ids, at), onError);
  return {
    seen({ id, sessionId, keyId }: Actor): void {
      users.seen(id);
      if (sessionId !== null) sessions.seen(sessionId);
      if (keyId !== null) keys.seen(keyId);
    },
    async close(): Promise<void> {
      await Promise.all([users.close(), sessions.close(), keys.close()]);
    },
  };
}
