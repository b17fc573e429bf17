import { record } from '../audit/audit.record.ts';
import { AppError } from '../core/errors.ts';
import type { ActingScope, Scope } from '../core/scope.ts';
import { transaction } from '../database/transaction.ts';
import { lockAdministrators } from './users.repository.ts';
import { audited, findUser, requireRightOver, toView } from './users.service.ts';

/**
 * Deletes an account in one transaction. Its content stays without an author's name; shared items pass to the
 * caller (docs/decisions/deleted-accounts.md).
 *
 * @throws not_found, primary_admin, forbidden for the caller's own account
 */
export async function deleteUser(
  scope: ActingScope & Pick<Scope, 'sql' | 'accountDeletion'>,
  id: string,
): Promise<true> {
  if (id === scope.actor.id)
    throw new AppError('forbidden', { detail: 'You cannot delete your own account.' });
  await scope.bus.tell('auth.ending', { userId: id });
  const publish = await transaction(scope, async (tx) => {
    await lockAdministrators(tx);
    const user = await findUser(tx.em, id);
    await requireRightOver(tx.em, scope.actor, user);
    const passed: Record<string, string[]> = {};
    const publish: (() => void)[] = [];
    for (const onAccountDeleted of scope.accountDeletion) {
      const outcome = await onAccountDeleted(scope, tx, { deleted: id, heir: scope.actor.id });
      for (const [what, ids] of Object.entries(outcome.passed ?? {})) if (ids.length > 0) passed[what] = ids;
      if (outcome.publish) publish.push(outcome.publish);
    }
    await record(scope, tx, {
      action: 'user.delete',
      target: { type: 'user', id },
      before: audited(toView(user)),
      after: Object.keys(passed).length > 0 ? { passed_to: scope.actor.id, ...passed } : null,
    });
    tx.em.remove(user);
    return publish;
  });
  scope.bus.publish('auth.revoked', { userId: id, sessionId: null });
  for (const tell of publish) tell();
  return true;
}
