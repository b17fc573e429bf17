import { record } from '../../audit/audit.record.ts';
import { AppError } from '../../core/errors.ts';
import type { Scope } from '../../core/scope.ts';
import { transaction } from '../../database/transaction.ts';
import { getUser } from '../../users/users.service.ts';
import { deleteSessions, listProviderSessions, listSessions } from './sessions.repository.ts';
import type { ProviderSessionView, SessionView } from './sessions.schema.ts';

/** The sessions of an account; empty if the account does not exist. */
export async function sessionsOf(scope: Scope, userId: string): Promise<SessionView[]> {
  const sessions = await listSessions(scope.sql, userId);
  return sessions.map((session) => ({ ...session, is_current: session.id === scope.actor.sessionId }));
}

/** The sessions of an account that began at a provider. */
export const providerSessionsOf = (scope: Scope, userId: string): Promise<ProviderSessionView[]> =>
  listProviderSessions(scope.sql, userId);

/**
 * Ends sessions of an account and closes their sockets.
 *
 * @param which.sessionId one session, or null for all
 * @param which.keptId a session that stays
 * @returns the number of ended sessions
 * @throws not_found if the session does not exist
 */
export async function endSessions(
  scope: Scope,
  { userId, sessionId, keptId = null }: { userId: string; sessionId: string | null; keptId?: string | null },
): Promise<number> {
  await scope.bus.tell('auth.ending', { userId });
  const ended = await transaction(scope, async (tx) => {
    const deleted = await deleteSessions(tx, { userId, sessionId, keptId });
    const entries = deleted.map((session) => ({
      action: 'session.end',
      target: { type: 'session', id: session.id },
      before: { ...session, user_id: userId },
    }));
    await record(scope, tx, ...entries);
    return deleted;
  });
  if (sessionId !== null && ended.length === 0) {
    throw new AppError('not_found', { detail: 'There is no such session.' });
  }
  for (const { id } of ended) scope.bus.publish('auth.revoked', { userId, sessionId: id });
  if (ended.some(({ id }) => id === scope.actor.sessionId)) scope.reply.setSession(null, null);
  return ended.length;
}

/** Ends all sessions of an account. @throws not_found if the account does not exist */
export async function revokeSessions(scope: Scope, userId: string): Promise<true> {
  await getUser(scope, userId);
  await endSessions(scope, { userId, sessionId: null });
  return true;
}
