import { record } from '../audit/audit.record.ts';
import { AppError } from '../core/errors.ts';
import type { ActingScope, Scope } from '../core/scope.ts';
import { transaction } from '../database/transaction.ts';
import { withdrawEverywhere } from '../members/members.service.ts';
import {
  DELETE_GRANTS_TO_USER,
  PASS_ON_CHANNELS,
  PASS_ON_FILES,
  PASS_ON_TOOLS,
  PASS_ON_WEBHOOKS,
} from './users.delete.repository.ts';
import { audited, findUser, lockAdministrators, requireRightOver, toView } from './users.service.ts';

/** By what the audit log calls them. */
const PASSED_ON = { tools: PASS_ON_TOOLS, channels: PASS_ON_CHANNELS, webhooks: PASS_ON_WEBHOOKS };

/**
 * Deletes an account in one transaction. What it wrote stays, without a name; what others use of it passes to the caller
 * (docs/decisions/deleted-accounts.md).
 *
 * @throws not_found, primary_admin, forbidden for one's own account
 */
export async function deleteUser(scope: ActingScope & Pick<Scope, 'sql'>, id: string): Promise<true> {
  if (id === scope.actor.id)
    throw new AppError('forbidden', { detail: 'You cannot delete your own account.' });
  const tell = await transaction(scope, async (tx) => {
    await lockAdministrators(tx);
    const user = await findUser(tx.em, id);
    await requireRightOver(tx.em, scope.actor, user);
    // First, as it decides who is left in the channels whose files are passed on.
    const tellChannels = await withdrawEverywhere(scope, tx, id);
    const passed: Record<string, string[]> = {};
    for (const [what, passOn] of Object.entries(PASSED_ON)) {
      const ids = (await tx.rows(passOn, [id, scope.actor.id])).map((row) => row.id);
      if (ids.length > 0) passed[what] = ids;
    }
    await tx.rows(PASS_ON_FILES, [id, scope.actor.id]);
    await tx.rows(DELETE_GRANTS_TO_USER, [id]);
    await record(scope, tx, {
      action: 'user.delete',
      target: { type: 'user', id },
      before: audited(toView(user)),
      after: Object.keys(passed).length > 0 ? { passed_to: scope.actor.id, ...passed } : null,
    });
    tx.em.remove(user);
    return tellChannels;
  });
  scope.bus.publish('auth.revoked', { userId: id, sessionId: null });
  tell();
  return true;
}
