import { record } from '../audit/audit.record.ts';
import { withdrawEverywhere } from '../channels/members.service.ts';
import { AppError } from '../core/errors.ts';
import type { Scope } from '../core/scope.ts';
import { sqlWithin } from '../database/sql.ts';
import {
  DELETE_GRANTS_TO_USER,
  PASS_ON_CHANNELS,
  PASS_ON_FILES,
  PASS_ON_TOOLS,
  PASS_ON_WEBHOOKS,
} from './users.delete.repository.ts';
import { audited, findUser, lockAdministrators, requireRightOver, toView } from './users.service.ts';

const PASSED_ON = [PASS_ON_TOOLS, PASS_ON_CHANNELS, PASS_ON_WEBHOOKS, PASS_ON_FILES];

/**
 * Deletes an account in one transaction. What it wrote stays, without a name; what others use of it passes to the caller
 * (docs/decisions/deleted-accounts.md).
 *
 * @throws not_found, primary_admin, forbidden for one's own account
 */
export async function deleteUser(scope: Scope, id: string): Promise<true> {
  if (id === scope.actor.id)
    throw new AppError('forbidden', { detail: 'You cannot delete your own account.' });
  const tell = await scope.em.transactional(async (em) => {
    await lockAdministrators(em);
    const user = await findUser(em, id);
    await requireRightOver(em, scope.actor, user);
    // First, as it decides who is left in the channels whose files are passed on.
    const tellChannels = await withdrawEverywhere(scope, em, id);
    const sql = sqlWithin(em);
    for (const passOn of PASSED_ON) await sql.rows(passOn, [id, scope.actor.id]);
    await sql.rows(DELETE_GRANTS_TO_USER, [id]);
    await record(scope, sql, {
      action: 'user.delete',
      target: { type: 'user', id },
      before: audited(toView(user)),
    });
    em.remove(user);
    return tellChannels;
  });
  scope.bus.publish('auth.revoked', { userId: id, sessionId: null });
  tell();
  return true;
}
